"""A run's model in PyTorch, for those who go on with a GPU or with other losses.

    model = locus.pytorch.load("runs/a")              # a torch.nn.Module with the run's weights
    trainer = locus.pytorch.Trainer(model, run.config)
    for batch in ...: trainer.step(inputs, wanted)    # the run's optimiser, schedule and clipping
    locus.pytorch.save(model, "runs/a", "pytorch")    # locus eval runs/a --model pytorch
    trainer = locus.pytorch.resume("runs/a")          # instead: from the newest checkpoint, with the optimiser's state

The model is that of locus/reference.py, which follows docs/model.md; it gives the engine's outputs for every encoding.
"""
import json
import os
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

import torch
from torch import Tensor, nn

from . import _locus, reference
from .errors import DataError
from .runs import Run
from .training import assignments

LocusEncoder = reference.LocusEncoder


class Module(reference.LocusEncoder):
    """The encoder with its inner values: `forward`, `loss`, `attention`, `hidden`."""

    def hidden(self, inputs: Tensor, masked: Optional[Tensor] = None,
               read_token: Optional[Tensor] = None) -> Dict[str, Tensor]:
        """Inner values under the engine's names: "embed", "blocks.0.input" (positions added), "blocks.0.mid", "blocks.0.output"."""
        out: Dict[str, Tensor] = {}
        hooks = []

        def keep(name: str, value: Tensor) -> None:
            out[name] = value

        for layer, block in enumerate(self.blocks):
            prefix = f"blocks.{layer}."
            hooks.append(block.register_forward_pre_hook(
                lambda _, given, prefix=prefix: keep(prefix + "input", self._with_positions(given))))
            hooks.append(block.register_forward_hook(lambda _, given, got, prefix=prefix: keep(prefix + "output", got)))
            if self.config.norm == "post":
                hooks.append(block.norm1.register_forward_hook(lambda _, given, got, prefix=prefix: keep(prefix + "mid", got)))
            else:
                hooks.append(block.norm2.register_forward_pre_hook(
                    lambda _, given, prefix=prefix: keep(prefix + "mid", given[0])))
        sliced, self.slice_last_layer = self.slice_last_layer, False
        try:
            out["embed"] = self.embedded(inputs, masked)
            out["head"] = self(inputs, masked, read_token)
        finally:
            self.slice_last_layer = sliced
            for hook in hooks:
                hook.remove()
        return out

    @staticmethod
    def _with_positions(given: Tuple[Any, ...]) -> Tensor:
        x, pe, _, signs = given
        added = pe.added(signs) if pe is not None else None
        return x if added is None else x + added

    def attention(self, inputs: Tensor, masked: Optional[Tensor] = None, read_token: Optional[Tensor] = None) -> Tensor:
        """Attention weights: (samples, layers, heads, queries, keys)."""
        seen: List[Tensor] = []
        for block in self.blocks:
            block.attn.watch = seen
        sliced, self.slice_last_layer = self.slice_last_layer, False
        try:
            self(inputs, masked, read_token)
        finally:
            self.slice_last_layer = sliced
            for block in self.blocks:
                block.attn.watch = None
        return torch.stack(seen, 1)


def load(run: Union[str, "os.PathLike[str]", Run], model: str = "final", slice_last_layer: bool = False) -> Module:
    """The model of a run, or of a folder with model.safetensors and config.json, in evaluation mode."""
    folder = run.path if isinstance(run, Run) else os.fspath(run)
    if not os.path.exists(os.path.join(folder, "model.safetensors")):
        folder = os.path.join(folder, model)
    loaded = reference.from_checkpoint(folder, slice_last_layer)
    loaded.__class__ = Module
    return loaded  # type: ignore[return-value]


def save(model: reference.LocusEncoder, run: Union[str, "os.PathLike[str]", Run], name: str = "pytorch") -> str:
    """Writes the weights as RUN/NAME, which `locus eval RUN --model NAME` and `run.model(NAME)` read; returns the folder."""
    base = run.path if isinstance(run, Run) else os.fspath(run)
    folder = os.path.join(base, name)
    config = next((c for c in (os.path.join(base, n, "config.json") for n in ("final", "init")) if os.path.exists(c)), None)
    if config is None:
        raise FileNotFoundError(f"{base}: no model of this run says its configuration (final/config.json)")
    os.makedirs(folder, exist_ok=True)
    with open(config, encoding="utf-8") as file:
        nested = json.load(file)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(nested, file, indent=1, sort_keys=True)
    reference.save_safetensors(os.path.join(folder, "model.safetensors"),
                               {key: value.float() for key, value in model.state_dict().items()})
    return folder


class Trainer:
    """Steps as the engine takes them: the same optimiser, learning rates and decay by tensor, schedule and clipping. `steps` counts
    them; the schedule goes by it."""

    def __init__(self, model: reference.LocusEncoder, config: Mapping[str, Any]) -> None:
        self.model, self.optim, self.steps = model, dict(config["optim"]), 0
        self._config = _locus.Config("", assignments({"optim": self.optim}), False)
        trained = [(name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad]
        factors = _locus.tensor_factors(self._config, [name for name, _ in trained])
        groups = [{"params": [parameter], "factor": factor, "weight_decay": self.optim["weight_decay"] * decay}
                  for (_, parameter), (factor, decay) in zip(trained, factors)]
        kind = self.optim["kind"]
        if kind == "sgd":
            self.optimizer: torch.optim.Optimizer = torch.optim.SGD(groups, lr=self.optim["lr"], momentum=self.optim["momentum"])
        else:
            maker = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[kind]
            self.optimizer = maker(groups, lr=self.optim["lr"], betas=(self.optim["beta1"], self.optim["beta2"]),
                                   eps=self.optim["eps"])

    def step(self, inputs: Tensor, wanted: Tensor, masked: Optional[Tensor] = None, read_token: Optional[Tensor] = None) -> float:
        """One step; returns the loss before it. `wanted`: classes, numbers, or for hidden tokens the inputs themselves."""
        self.model.train()
        for group in self.optimizer.param_groups:
            group["lr"] = _locus.learning_rate(self._config, self.steps) * group["factor"]
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.model.loss(self.model(inputs, masked, read_token), wanted, masked)
        loss.backward()
        if self.optim["clip_norm"] > 0:
            nn.utils.clip_grad_norm_([p for p in self.model.parameters() if p.requires_grad], self.optim["clip_norm"])
        self.optimizer.step()
        self.steps += 1
        return float(loss.detach())


def resume(run: Union[str, "os.PathLike[str]", Run]) -> Trainer:
    """A trainer that goes on from the newest checkpoint of a run: its weights (`trainer.model`), step and optimiser state."""
    run = (run if isinstance(run, Run) else Run(run)).reload()
    newest = max((name for name in run.models if name.startswith("checkpoints/")), default=None)
    if newest is None:
        raise DataError(f"{run.path}: the run has no checkpoint to go on from", "the run has no checkpoint to go on from", run.path,
                        hint="locus.pytorch.load begins with the weights alone")
    trainer = Trainer(load(run, newest), run.config)
    trainer.steps, states = run.model(newest)._engine.optimizer_states()
    names = ("momentum_buffer",) if trainer.optim["kind"] == "sgd" else ("exp_avg", "exp_avg_sq")
    for name, parameter in trainer.model.named_parameters():
        if parameter.requires_grad:
            state: Dict[str, Any] = {key: torch.from_numpy(moment[name]) for key, moment in zip(names, states)}
            if trainer.optim["kind"] != "sgd":
                state["step"] = torch.tensor(float(trainer.steps))
            trainer.optimizer.state[parameter] = state
    return trainer
