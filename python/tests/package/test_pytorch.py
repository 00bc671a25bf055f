"""The PyTorch module against the engine: outputs, inner values, gradients and steps, for every encoding."""
import os
import shutil

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import locus
from conftest import NMAR, TINY
from locus import pytorch

KINDS = {"learned": {}, "none": {"model.attention_mask": "causal"}, "sinusoidal": {"pe.positions": "grid"},
         "laplacian": {"pe.eigenvectors": 3}, "rotary": {"pe.positions": "grid"}, "relative": {"pe.value_term": True, "pe.shared": True},
         "t5": {"pe.buckets": 8}, "alibi": {"pe.placement": "input", "model.readout": "mean", "model.norm": "pre"}}


@pytest.fixture(scope="module", params=sorted(KINDS))
def run(request, tmp_path_factory):
    os.environ["LOCUS_CACHE"] = str(tmp_path_factory.getbasetemp() / "cache")
    return locus.train(TINY, {"pe.kind": request.param, "stop.epochs": 2, **KINDS[request.param]},
                       out=tmp_path_factory.mktemp("runs") / request.param)


def without_key_bias(name, values):
    """All but the bias of the keys: it adds the same to every logit of a query, so nothing depends on it, its gradient is 0 but for
    rounding, and Adam divides that rounding by itself."""
    return np.delete(values, np.s_[len(values) // 3: 2 * len(values) // 3]) if name.endswith("in_proj_bias") else values


def test_every_encoding_is_here():
    keys = locus.keys()
    kind = list(keys["key"]).index("pe.kind")
    assert set(KINDS) == set(list(keys["type"])[kind].removeprefix("one of ").split(", "))


def puzzles(n=12):
    rng = np.random.RandomState(0)
    return rng.randint(-1, 4, (n, 9)).astype(np.int16), rng.randint(0, 3, n)


def test_outputs_attention_and_inner_values_are_the_engines(run):
    X, _ = puzzles()
    theirs, ours = pytorch.load(run), run.model()
    ids = torch.tensor(X, dtype=torch.long)
    with torch.no_grad():
        assert np.abs(theirs(ids).numpy() - ours.outputs(X)).max() < 1e-5
        assert np.abs(theirs.attention(ids).numpy() - ours.attention(X)).max() < 1e-5
        inner, expected = theirs.hidden(ids), ours.hidden(X)
    assert {"embed", "head", "blocks.0.input", "blocks.1.mid", "blocks.1.output"} <= set(inner)
    for name, value in inner.items():
        assert np.abs(value.numpy() - expected[name]).max() < 1e-5, name


def test_gradients_are_the_engines(run):
    X, y = puzzles()
    model = pytorch.load(run)
    loss = model.loss(model(torch.tensor(X, dtype=torch.long)), torch.tensor(y))
    loss.backward()
    expected, gradients = run.model().gradients(X, y)
    assert float(loss) == pytest.approx(expected, abs=1e-5)
    checked = 0
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            assert np.abs(parameter.grad.numpy() - gradients[name]).max() < 1e-4, name
            checked += 1
    assert checked == sum(p["trained"] for p in run.manifest["parameters"])


def test_a_run_continued_in_pytorch_is_read_by_the_program(run, program):
    X, y = puzzles(64)
    ids, labels = torch.tensor(X, dtype=torch.long), torch.tensor(y)
    model = pytorch.load(run)
    trainer = pytorch.Trainer(model, run.config)
    torch.manual_seed(0)  # the signs of eigenvectors are random in training

    def loss():
        with torch.no_grad():
            return float(model.eval().loss(model(ids), labels))

    before = loss()
    for _ in range(30):
        trainer.step(ids, labels)
    assert loss() < before
    pytorch.save(model, run, "pytorch")
    with torch.no_grad():
        out = model.eval()(ids).numpy()
    assert np.abs(run.model("pytorch").outputs(X) - out).max() < 1e-5
    assert "test.accuracy" in program("eval", run.path, "--model", "pytorch", "--json")


@pytest.mark.parametrize("optim", [{"kind": "adam", "weight_decay": 0.1}, {"kind": "adamw", "weight_decay": 0.1, "schedule": "cosine",
                                    "schedule_steps": 6, "warmup_steps": 2}, {"kind": "sgd", "momentum": 0.9, "clip_norm": 0.5,
                                    "group_lr": ["*pe.*=3", "*norm*=0.5"]}], ids=lambda o: o["kind"])
def test_steps_are_the_engines(tmp_path, optim):
    """With the whole data in each batch the order of examples does not matter."""
    rng = np.random.RandomState(0)
    X, y = rng.randn(40, 6).astype(np.float32), rng.randint(0, 3, 40)
    run = locus.train(data=(X, y), settings={"optim": {"lr": 0.01, **optim}, "train.batch": 40, "stop.steps": 6, "model.layers": 2,
                                             "model.width": 16, "model.heads": 2}, out=tmp_path / "run")
    model = pytorch.load(run, "init")
    trainer = pytorch.Trainer(model, run.config)
    for _ in range(6):
        trainer.step(torch.tensor(X).unsqueeze(-1), torch.tensor(y))
    state, final = model.state_dict(), run.model().parameters()
    start = run.model("init").parameters()
    assert max(np.abs(final[name] - start[name]).max() for name in final) > 1e-2, "something was learned"
    for name, value in final.items():
        assert np.abs(without_key_bias(name, state[name].numpy() - value)).max() < 1e-4, name
    with torch.no_grad():
        assert np.abs(model.eval()(torch.tensor(X).unsqueeze(-1)).numpy() - run.model().outputs(X)).max() < 1e-4


@pytest.mark.parametrize("optim", [{"kind": "adamw", "weight_decay": 0.1, "schedule": "cosine", "schedule_steps": 6},
                                   {"kind": "adam"}, {"kind": "sgd", "momentum": 0.9}, {"kind": "sgd", "momentum": 0.0}],
                         ids=["adamw", "adam", "momentum", "sgd"])
def test_a_checkpoint_is_gone_on_from_as_the_engine_does(tmp_path, optim):
    rng = np.random.RandomState(0)
    X, y = rng.randn(40, 6).astype(np.float32), rng.randint(0, 3, 40)
    settings = {"optim": {"lr": 0.01, **optim}, "train.batch": 40, "model.layers": 1, "model.width": 16}
    run = locus.train(data=(X, y), settings={**settings, "stop.steps": 3}, out=tmp_path / "run")
    trainer = pytorch.resume(run)
    assert trainer.steps == 3
    for _ in range(3):
        trainer.step(torch.tensor(X).unsqueeze(-1), torch.tensor(y))
    ours, start = trainer.model.state_dict(), run.model().parameters()
    run = locus.train(data=(X, y), settings={**settings, "stop.steps": 6}, out=tmp_path / "run")
    moved = 0.0
    for name, value in run.model().parameters().items():
        assert np.abs(without_key_bias(name, ours[name].numpy() - value)).max() < 1e-5, name
        moved = max(moved, np.abs(value - start[name]).max())
    assert moved > 1e-3
    pytorch.save(trainer.model, run, "pytorch")
    with pytest.raises(locus.DataError, match="no checkpoint"):
        shutil.rmtree(tmp_path / "run" / "checkpoints")
        pytorch.resume(run)


def test_every_tensor_moves_to_another_device_with_the_model(run):
    """Shapes alone, on the device `meta`: a tensor that stays behind is an error there as on a GPU."""
    X, _ = puzzles()
    out = pytorch.load(run).to("meta")(torch.tensor(X, dtype=torch.long, device="meta"))
    assert out.device.type == "meta" and out.shape == (12, 3)


def test_hidden_tokens(tmp_path):
    run = locus.train(NMAR, out=tmp_path / "nmar")
    X = np.random.RandomState(0).randn(8, 6).astype(np.float32)
    masked = np.zeros((8, 6), dtype=bool)
    masked[:, ::2] = True
    model = pytorch.load(run)
    features, flags = torch.tensor(X).unsqueeze(-1), torch.tensor(masked)
    out = model(features, flags)
    assert np.abs(out.detach().numpy() - run.model().outputs(X, masked)).max() < 1e-5
    model.loss(out, features, flags).backward()
    _, gradients = run.model().gradients(X, masked=masked)
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            assert np.abs(parameter.grad.numpy() - gradients[name]).max() < 1e-4, name
