"""Writes the golden files of tests/golden: parameters, a batch, and what the PyTorch reference makes of it in float64.

Usage: python3 make_golden.py [FOLDER]. Parameters are float32 values; losses, outputs and gradients are float64.
Tensors: param.*, input.{features|ids, masked, read_token, coordinates, labels|targets}, expect.{loss, output}, grad.*; the
optimiser files hold several batches (first axis of input.*), expect.losses per step and final.* instead.
"""
import json
import os
import sys
import zlib

import torch

from reference import LocusEncoder, ReferenceConfig, make_optimizer, save_safetensors

SMALL = dict(tokens=5, features=3, outputs=4, width=8, layers=1, heads=1, mlp_width=12, pe_sigma=0.5)
GRID = [[float(r), float(c)] for r in range(2) for c in range(3)]
SPACE = [[-1.25, 0.5, 2.0], [0.75, 1.125, -0.375], [2.25, -0.875, 0.25], [0.125, 0.625, 1.375], [-0.5, -1.75, -2.125]]
ENCODINGS = {
    "none": {},
    "learned": {},
    "random": dict(pe_kind="learned", pe_trainable="no"),
    "sinusoidal": {},
    "sinusoidal_trained": dict(pe_kind="sinusoidal", pe_trainable="yes"),
    "laplacian": dict(pe_eigenvectors=3),
    "rotary": {},
    "relative": {},
    "relative_value": dict(pe_kind="relative", pe_value_term=True),
    "t5": dict(pe_buckets=8, pe_max_distance=6),
    "alibi": {},
    "alibi_trained": dict(pe_kind="alibi", pe_trainable="yes"),
}


def cases():
    """Name -> (config, kind of input)."""
    made = {}

    def add(name, source="features", **changes):
        assert name not in made
        made[name] = (ReferenceConfig(**{**SMALL, **changes}), source)

    for name, changes in ENCODINGS.items():
        kind = {"pe_kind": name, **changes}
        add(f"{name}_h1_full", **kind, layers=2)
        add(f"{name}_h4_causal", **kind, heads=4, tokens=7, attention_mask="causal")
    for name in ("rotary", "relative_value", "t5", "alibi"):
        add(f"{name}_h4_full", **{"pe_kind": name, **ENCODINGS[name]}, heads=4, width=16)
        add(f"{name}_h1_causal_ids", "ids", **{"pe_kind": name, **ENCODINGS[name]}, attention_mask="causal")
    # positions: grids, given coordinates, scales, clipping
    grid = dict(pe_positions="grid", coordinates=GRID, tokens=6)
    space = dict(pe_positions="data", coordinates=SPACE, width=12)
    add("sinusoidal_grid", pe_kind="sinusoidal", **grid)
    add("sinusoidal_data_leftover", pe_kind="sinusoidal", pe_base=100.0, pe_coord_scale=1.5, **{**space, "width": 8})
    add("rotary_grid_fraction", pe_kind="rotary", pe_rotary_fraction=0.6, pe_base=50.0, width=16, heads=2, **grid)
    add("rotary_data", pe_kind="rotary", pe_coord_scale=0.5, **space)
    add("rotary_fraction", pe_kind="rotary", pe_rotary_fraction=0.5, heads=2)
    add("rotary_odd_head", pe_kind="rotary", width=6, heads=2)
    add("relative_grid_cls", pe_kind="relative", pe_value_term=True, readout="cls", heads=2, **grid)
    add("relative_data_clipped", pe_kind="relative", pe_max_distance=2, heads=2, **space)
    add("t5_grid", pe_kind="t5", pe_buckets=8, heads=2, **grid)
    add("t5_default_buckets", pe_kind="t5", heads=2, tokens=41)
    add("alibi_data", pe_kind="alibi", pe_trainable="yes", pe_coord_scale=0.75, heads=2, **space)
    add("alibi_grid_cls", pe_kind="alibi", readout="cls", heads=2, **grid)
    # placement and sharing
    for name in ("learned", "rotary", "relative_value", "t5", "laplacian", "alibi_trained"):
        kind = {"pe_kind": name, **ENCODINGS[name]}
        add(f"{name}_input", pe_placement="input", layers=2, **kind)
        add(f"{name}_shared", pe_shared=True, layers=2, heads=2, **kind)
    # the block
    add("pre_norm", norm="pre", layers=2)
    add("pre_norm_final_gelu_causal", norm="pre", mlp_final_gelu=True, attention_mask="causal", heads=2, pe_kind="rotary")
    add("final_gelu_ids", "ids", mlp_final_gelu=True)
    add("no_attention_bias", attention_bias=False, heads=2)
    add("no_attention_output", attention_output=False, pe_kind="relative", attention_mask="causal")
    add("no_bias_no_output_scaled", attention_bias=False, attention_output=False, logit_scale=2.5)
    add("logit_scale_relative", logit_scale=3.0, pe_kind="relative", heads=2)
    for kind in ("learned", "sinusoidal", "laplacian"):
        add(f"position_logit_scale_{kind}", position_logit_scale=0.25, layers=2, **{"pe_kind": kind, **ENCODINGS[kind]})
    add("position_logit_scale_h4_causal", position_logit_scale=3.0, logit_scale=1.5, heads=4, tokens=7,
        attention_mask="causal")
    add("position_logit_scale_shared_ids", "ids", position_logit_scale=0.0, layers=3, heads=2, pe_shared=True)
    add("position_logit_scale_input_masked", position_logit_scale=2.0, layers=2, pe_placement="input", readout="masked",
        task="regression", outputs=2, mask_vector="learned")
    # input and read-out
    add("embed_none", embed="none", features=8)
    add("embed_none_ids", "ids", embed="none", features=8)
    add("embed_none_masked", embed="none", features=8, readout="masked", task="regression", mask_vector="zero", outputs=2)
    add("readout_token", readout_token=2)
    add("readout_given", "ids", readout="given")
    add("readout_mean", readout="mean")
    add("readout_cls", readout="cls")
    add("readout_cls_ids_pre", "ids", readout="cls", norm="pre", attention_mask="causal")
    add("readout_flat", readout="flat")
    add("readout_flat_regression", readout="flat", task="regression", outputs=3)
    add("readout_every", readout="every", task="regression", outputs=2)
    add("readout_masked", layers=2, readout="masked", task="regression", outputs=1, features=1, mask_vector="learned",
        tokens=7)
    add("readout_masked_zero", readout="masked", task="regression", outputs=2, mask_vector="zero")
    add("readout_masked_pre", readout="masked", task="regression", outputs=2, mask_vector="learned", norm="pre", heads=2)
    add("readout_every_masked_input", readout="every", task="regression", outputs=2, mask_vector="learned")
    add("readout_token_regression", task="regression", outputs=2)
    add("head_hidden", head_hidden=6)
    add("head_hidden_masked_gain", readout="masked", task="regression", outputs=2, mask_vector="learned", head_hidden=5,
        output_gain=1.75)
    add("output_gain", output_gain=0.25)
    return made


def seed_of(name):
    return torch.Generator().manual_seed(zlib.crc32(name.encode()))


def fill(model, random):
    """Float32 values of an order that makes every gradient matter; frozen tables keep their meaning."""
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            noise = torch.randn(tensor.shape, generator=random)
            if name.endswith(("norm1.weight", "norm2.weight", "norm.weight")):
                tensor.copy_(1 + 0.2 * noise)
            elif name.endswith("eigenvectors") or name.endswith("pe.table") and model.config.pe_kind == "learned":
                tensor.copy_(0.6 * noise)
            elif name.endswith(("slopes", "pe.table")):
                tensor.mul_(1 + 0.1 * noise if model.config.trainable() else torch.ones_like(noise))
            elif tensor.dim() == 1:
                tensor.copy_(0.2 * noise)
            else:
                tensor.copy_((0.8 if "pe." in name else 1.2 / tensor.shape[-1] ** 0.5) * noise)


def make_batch(config, source, random, batch=3):
    made = {}
    if source == "ids":
        made["ids"] = torch.randint(-1, config.features, (batch, config.tokens), generator=random)
        made["ids"][0, 0] = -1
    else:
        made["features"] = torch.randn(batch, config.tokens, config.features, generator=random)
    if config.mask_vector != "none":
        made["masked"] = (torch.rand(batch, config.tokens, generator=random) < 0.5).to(torch.uint8)
        made["masked"][:, 1] = 1
    if config.readout == "given":
        made["read_token"] = torch.randint(0, config.tokens, (batch,), generator=random)
    if config.task == "classification":
        made["labels"] = torch.randint(0, config.outputs, (batch,), generator=random)
    else:
        tokens = (config.tokens,) if config.readout in ("every", "masked") else ()
        made["targets"] = torch.randn(batch, *tokens, config.outputs, generator=random)
    if config.coordinates:
        made["coordinates"] = torch.tensor(config.coordinates, dtype=torch.float64)
    return made


def run(model, batch):
    inputs = batch["ids"] if "ids" in batch else batch["features"].double()
    wanted = batch["labels"] if "labels" in batch else batch["targets"].double()
    output = model(inputs, batch.get("masked"), batch.get("read_token"))
    return output, model.loss(output, wanted, batch.get("masked"))


def write_case(folder, name, config, source):
    random = seed_of(name)
    torch.manual_seed(1)
    model = LocusEncoder(config)
    fill(model, random)
    tensors = {f"param.{key}": value.clone() for key, value in model.state_dict().items()}
    model = model.double().eval()
    batch = make_batch(config, source, random)
    output, loss = run(model, batch)
    loss.backward()
    tensors.update({f"input.{key}": value for key, value in batch.items()})
    tensors["expect.loss"], tensors["expect.output"] = loss, output
    for key, parameter in model.named_parameters():
        tensors[f"grad.{key}"] = parameter.grad
    sliced = LocusEncoder(config, slice_last_layer=True).double().eval()
    sliced.load_state_dict(model.state_dict())
    sliced_output, _ = run(sliced, batch)
    assert torch.allclose(sliced_output, output, rtol=0, atol=1e-12), name
    save_safetensors(os.path.join(folder, f"{name}.safetensors"), tensors, {"config": json.dumps(config.to_json())})


OPTIMIZERS = {
    "optim_adam": dict(kind="adam", lr=0.01, weight_decay=0.0, clip_norm=0.0),
    "optim_adam_decay": dict(kind="adam", lr=0.01, beta1=0.8, beta2=0.95, eps=1e-6, weight_decay=0.05, clip_norm=0.7),
    "optim_adamw": dict(kind="adamw", lr=0.01, weight_decay=0.1, clip_norm=0.0),
    "optim_adamw_clip": dict(kind="adamw", lr=0.02, weight_decay=0.02, clip_norm=0.5),
    "optim_sgd": dict(kind="sgd", lr=0.1, momentum=0.0, weight_decay=0.0, clip_norm=0.0),
    "optim_sgd_momentum": dict(kind="sgd", lr=0.05, momentum=0.9, weight_decay=0.01, clip_norm=1.0),
}


def write_optimizer(folder, name, options, steps=20, batches=3):
    """Without attention biases: the key bias has no true gradient, and Adam would normalise its rounding noise."""
    config = ReferenceConfig(**{**SMALL, "attention_bias": False, "heads": 2, "layers": 2})
    random = seed_of("optimizer")
    torch.manual_seed(1)
    model = LocusEncoder(config)
    fill(model, random)
    tensors = {f"param.{key}": value.clone() for key, value in model.state_dict().items()}
    model = model.double().train()
    fixed = [make_batch(config, "features", random, batch=4) for _ in range(batches)]
    for key in fixed[0]:
        tensors[f"input.{key}"] = torch.stack([batch[key] for batch in fixed])
    full = {"beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "momentum": 0.0, **options}
    optimizer = make_optimizer(model, **full)
    losses = []
    for step in range(steps):
        optimizer.zero_grad(set_to_none=True)
        _, loss = run(model, fixed[step % batches])
        loss.backward()
        if full["clip_norm"] > 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), full["clip_norm"])
        optimizer.step()
        losses.append(loss.detach())
    tensors["expect.losses"] = torch.stack(losses)
    tensors.update({f"final.{key}": value for key, value in model.state_dict().items()})
    save_safetensors(os.path.join(folder, f"{name}.safetensors"), tensors,
                     {"config": json.dumps(config.to_json()), "optimizer": json.dumps(full)})


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "..", "..", "tests", "golden")
    os.makedirs(folder, exist_ok=True)
    torch.set_num_threads(1)
    for name, (config, source) in cases().items():
        write_case(folder, name, config, source)
    for name, options in OPTIMIZERS.items():
        write_optimizer(folder, name, options)


if __name__ == "__main__":
    main()
