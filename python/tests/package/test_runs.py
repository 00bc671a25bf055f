"""Reading runs, and their models through the engine."""
import json
import os
import subprocess
import sys
import time
import tracemalloc

import numpy as np
import pytest

import locus
from conftest import NMAR, TINY


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    os.environ["LOCUS_CACHE"] = str(tmp_path_factory.getbasetemp() / "cache")
    return locus.train(TINY, {"watch.snapshots": [1]}, out=tmp_path_factory.mktemp("runs") / "a")


def puzzles(n, seed=0, tokens=9, kinds=4):
    return np.random.RandomState(seed).randint(-1, kinds, (n, tokens)).astype(np.int16)


def test_what_a_run_holds(run):
    assert run.status == "finished" and run.config["pe"]["sigma"] == 0.1
    assert list(run.metrics["epoch"]) == [1, 2, 3]
    assert run.metrics["test.accuracy"].iloc[-1] == run.results["test.accuracy"]
    assert {"init", "snapshots/1", "final"} <= set(run.models)
    assert set(run.predictions["split"]) >= {"test", "heldout"}
    assert run.problems == []
    assert run.manifest["config_hash"].startswith("v2-")
    assert "<svg" in run._repr_html_() and "finished" in run._repr_html_()
    assert len(locus.Runs(os.path.dirname(run.path))) == 1


def test_frames_without_pandas(run):
    code = ("import sys; sys.modules['pandas'] = None\nimport locus, numpy\nr = locus.Run(sys.argv[1])\n"
            "m = r.metrics; assert isinstance(m, dict) and m['epoch'].tolist() == [1, 2, 3]\n"
            "p = r.predictions; assert p['label'].dtype.kind == 'f' and len(p['split']) == len(p['label'])\n"
            "assert 'sklearn' not in sys.modules and 'torch' not in sys.modules")
    subprocess.run([sys.executable, "-c", code, run.path], check=True)


def test_encodings_and_their_change(run):
    final, init = run.model().parameters(), run.model("init").parameters()
    for layer in (0, 1, -1):
        name = f"blocks.{layer % 2}.pe.table"
        assert np.array_equal(run.encoding(layer), final[name])
        assert np.allclose(run.encoding(layer, change=True), final[name].astype(float) - init[name], atol=0)
    assert np.array_equal(run.encoding(0, model="snapshots/1"), run.model("snapshots/1").parameters()["blocks.0.pe.table"])
    assert run.similarity().shape == (9, 9) and np.allclose(np.diag(run.similarity()), 1)
    with pytest.raises(IndexError):
        run.encoding(2)
    with pytest.raises(locus.IoError, match="snapshots/7"):
        run.model("snapshots/7")


def test_predictions_are_those_of_eval_to_the_bit(run, program, tmp_path):
    printed = json.loads(program("eval", run.path, "--json", "--export", "out.csv", "--split", "test"))
    assert run.model().evaluate("test") == printed
    table = run.predictions
    table = table[table["split"] == "test"]
    exported = np.genfromtxt(tmp_path / "out.csv", delimiter=",", skip_header=1, usecols=3, dtype=int)
    program("lst", "generate", "puzzles", "--n", "3", "--per-difficulty", "20", "lst.heldout_items=1", "lst.rotations=1",
            "lst.min_distance=0", "--quiet")
    lines = (tmp_path / "puzzles" / "test.csv").read_text(encoding="utf-8").splitlines()
    column = lines[0].split(",").index("puzzles")
    X = np.array([[int(cell) - 1 for cell in line.split(",")[column]] for line in lines[1:]])
    assert np.array_equal(run.model().predict(X) + 1, exported)
    assert np.array_equal(run.model().predict(X), table["predicted"])
    # The loss that eval prints is that of the outputs.
    p = run.model().probabilities(X)[np.arange(len(X)), table["label"]]
    assert -np.log(p).mean() == pytest.approx(printed["test.loss"], rel=1e-6)


def test_outputs_do_not_depend_on_threads_batches_or_layout(run):
    X = puzzles(333)
    model = run.model()
    out = model.outputs(X, threads=1)
    assert np.array_equal(out, model.outputs(X, threads=2))
    assert np.array_equal(out, model.outputs(X.astype(np.int64)))
    assert np.array_equal(out, model.outputs(np.asfortranarray(X)))
    assert np.array_equal(out[100:107], model.outputs(X[100:107]))
    assert np.array_equal(out[::2], model.outputs(X[::2]))
    assert np.allclose(model.probabilities(X).sum(axis=1), 1)


def test_attention_and_hidden_states(run):
    X, model = puzzles(5), run.model()
    weights, inner = model.attention(X), model.hidden(X)
    assert weights.shape == (5, 2, 2, 9, 9) and np.allclose(weights.sum(axis=-1), 1, atol=1e-5)
    assert np.array_equal(model.attention(X[3]), weights[3])
    assert all(np.array_equal(values, inner[name][3]) for name, values in model.hidden(X[3]).items())
    assert inner["blocks.1.output"].shape == (5, 9, 16)
    assert np.allclose(inner["blocks.0.input"] - inner["embed"], run.encoding(0), atol=1e-6)
    assert np.allclose(inner["head"], model.outputs(X), atol=1e-5)
    assert list(model.hidden(X, names=["embed"])) == ["embed"]


def test_masked_models(tmp_path):
    run = locus.train(NMAR, out=tmp_path / "nmar")
    X = np.random.RandomState(0).randn(20, 6)
    masked = np.random.RandomState(1).rand(20, 6) < 0.4
    model = run.model()
    out = model.outputs(X, masked)
    assert out.shape == (masked.sum(), 1)
    assert np.array_equal(model.predict(X, masked)[masked], out[:, 0])
    with pytest.raises(locus.DataError, match="hidden tokens"):
        model.outputs(X)
    assert model.attention(X, masked).shape == (20, 1, 1, 6, 6)
    # Nothing hidden: no token is read, inner values are there.
    assert model.hidden(X, np.zeros_like(masked))["blocks.0.output"].shape == (20, 6, 8)


@pytest.mark.parametrize("X, words", [(np.zeros((3, 8), dtype=int), "wrong shape"), (np.full((3, 9), 4), "no such token"),
                                      (np.full((3, 9), -2), "no such token"), (np.full((3, 9), 1 << 40), "no such token"),
                                      (np.zeros((3, 9)), "by number"), (np.full((3, 9), "a"), "by number")])
def test_bad_inputs_are_errors(run, X, words):
    with pytest.raises(locus.DataError, match=words):
        run.model().predict(X)


def test_damage_is_told(run, tmp_path):
    with pytest.raises(locus.IoError):
        locus.Run(tmp_path / "absent")
    with pytest.raises(locus.Error):
        locus.Run(tmp_path).model()


def test_importing_is_quick():
    # Of the processor: a busy machine is none of our doing.
    code = "import time; t = time.process_time(); import locus; print(time.process_time() - t)"
    best = min(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
               for _ in range(5))
    assert best < 0.3, f"{best:.3f} s"


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """A model of 64 tokens, as for digits."""
    X = np.random.RandomState(0).randn(64, 64).astype(np.float32)
    return locus.train(data=(X, np.arange(64) % 10), settings={"stop.steps": 2, "model.width": 32, "model.layers": 2},
                       out=tmp_path_factory.mktemp("wide") / "run").model()


def test_inputs_in_the_right_layout_are_not_copied(wide):
    X = np.zeros((20000, 64), dtype=np.float32)
    tracemalloc.start()
    wide.outputs(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.nbytes / 5, f"{peak} bytes for an array of {X.nbytes}"


def test_predict_costs_little_more_than_the_engine(wide):
    X = np.random.RandomState(0).randn(10000, 64).astype(np.float32)
    engine = wide._engine

    def seconds(call):
        begun = time.perf_counter()
        call()
        return time.perf_counter() - begun

    inner, outer = [], []
    for _ in range(7):  # in turns, so that a busy machine disturbs both
        inner.append(engine.evaluator_seconds(X, 1))
        outer.append(seconds(lambda: wide.predict(X, threads=1)))
    assert min(outer) < 1.05 * min(inner), f"{min(outer):.4f} s, the engine {min(inner):.4f} s"
