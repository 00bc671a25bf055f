"""Training in Python: the same bytes as the command line, and no way to lose data."""
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import locus
from conftest import NMAR, TINY


def model_bytes(folder, which="final"):
    with open(os.path.join(folder, which, "model.safetensors"), "rb") as file:
        return file.read()


def text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


@pytest.mark.parametrize("settings", [TINY, NMAR], ids=["lst", "masked"])
def test_the_same_bytes_as_the_command_line(tmp_path, program, settings):
    (tmp_path / "config.toml").write_text(locus.config(settings).toml(), encoding="utf-8")
    program("train", "config.toml", "--out", "by_program", "--threads", "2")
    locus.train(tmp_path / "config.toml", out=tmp_path / "by_file", threads=1)
    locus.train(settings, out=tmp_path / "by_mapping", threads=2)
    for name in ("by_file", "by_mapping"):
        for which in ("init", "final"):
            assert model_bytes(tmp_path / name, which) == model_bytes(tmp_path / "by_program", which)
        for file in ("metrics.csv", "predictions.csv", "config.toml"):
            assert text(tmp_path / name / file) == text(tmp_path / "by_program" / file), file
    one, two = (locus.Run(tmp_path / name).manifest for name in ("by_program", "by_mapping"))
    assert one["config_hash"] == two["config_hash"] and one["data_hash"] == two["data_hash"]


def test_an_interrupted_training_goes_on_to_the_same_bytes(tmp_path):
    whole = locus.train(TINY, {"stop.epochs": 6}, out=tmp_path / "whole")

    class Stop(Exception):
        pass

    def after_two(state):
        if state["metrics"] is not None and state["epoch"] == 2:
            raise Stop("in the callback")

    with pytest.raises(Stop, match="in the callback"):
        locus.train(TINY, {"stop.epochs": 6}, out=tmp_path / "cut", callbacks=after_two)
    run = locus.Run(tmp_path / "cut")
    assert run.status == "interrupted" and run.state["reason"] == "stopped by the caller"
    assert any(name.startswith("checkpoints/") for name in run.models)
    run = locus.train(TINY, {"stop.epochs": 6}, out=tmp_path / "cut")
    assert run.status == "finished"
    assert model_bytes(run.path) == model_bytes(whole.path)


def test_stop_training_ends_quietly_and_callbacks_see_progress(tmp_path):
    states = []

    def watch(state):
        states.append(state)
        if state["epoch"] >= 1 and state["metrics"] is not None:
            raise locus.StopTraining

    run = locus.train(TINY, {"stop.epochs": 50}, out=tmp_path / "run", callbacks=[watch])
    assert run.status == "interrupted"
    assert {"epoch", "step", "total_steps", "loss", "metrics"} <= set(states[-1])
    assert "test.accuracy" in states[-1]["metrics"]


SCRIPT = """
import sys, locus
sys.path.insert(0, {tests!r})
from conftest import TINY
def started(state):
    print("started", flush=True)
try:
    locus.train(TINY, {{"stop.epochs": 1000000, "watch.checkpoint_every": 1000000}}, out={out!r}, callbacks=started)
except KeyboardInterrupt:
    print("interrupted", locus.Run({out!r}).status, flush=True)
"""


def test_ctrl_c_writes_a_checkpoint_and_raises(tmp_path):
    out = str(tmp_path / "run")
    child = subprocess.Popen([sys.executable, "-c", SCRIPT.format(tests=os.path.dirname(__file__), out=out)],
                             stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "started\n"
    child.send_signal(signal.SIGINT)
    begun = time.time()
    lines = child.communicate(timeout=60)[0].split("\n")
    assert "interrupted interrupted" in lines
    assert time.time() - begun < 10
    step = max(int(name.split("/")[1]) for name in locus.Run(out).models if name.startswith("checkpoints/"))
    assert step > 0


def test_two_threads_train_at_once_and_python_goes_on(tmp_path):
    alone = locus.train(TINY, {"stop.epochs": 8}, out=tmp_path / "alone")
    runs, ticks = {}, []

    def work(name):
        runs[name] = locus.train(TINY, {"stop.epochs": 8}, out=tmp_path / name, threads=1)

    threads = [threading.Thread(target=work, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        ticks.append(time.time())
        time.sleep(0.001)
    for name in ("a", "b"):
        assert model_bytes(runs[name].path) == model_bytes(alone.path)
    assert len(ticks) > 10, "Python's lock was held"


def test_two_trainings_of_one_folder_are_refused(tmp_path):
    def second(state):
        with pytest.raises(locus.IoError, match="pid"):
            locus.train(TINY, {"stop.epochs": 50}, out=tmp_path / "run")
        raise locus.StopTraining

    assert locus.train(TINY, {"stop.epochs": 50}, out=tmp_path / "run", callbacks=second).status == "interrupted"


def in_child(folder, queue):
    queue.put(model_bytes(locus.train(TINY, out=folder, threads=2).path))


def test_a_fork_after_training_trains_too(tmp_path):
    run = locus.train(TINY, out=tmp_path / "parent", threads=2)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=in_child, args=(str(tmp_path / "child"), queue))
    child.start()
    assert queue.get(timeout=120) == model_bytes(run.path)
    child.join(60)
    assert child.exitcode == 0


def test_a_fork_while_another_thread_trains_neither_hangs_nor_disturbs(tmp_path):
    alone = locus.train(TINY, out=tmp_path / "alone")
    context, started = multiprocessing.get_context("fork"), threading.Event()
    queue, ended = context.Queue(), []

    def work():
        try:
            locus.train(TINY, {"stop.epochs": 1000000}, out=tmp_path / "long", threads=2, callbacks=watch)
        except KeyError as error:
            ended.append(error)

    def watch(state):
        started.set()
        if ended:
            raise ended[0]

    thread = threading.Thread(target=work)
    thread.start()
    assert started.wait(60)
    child = context.Process(target=in_child, args=(str(tmp_path / "child"), queue))
    child.start()
    assert queue.get(timeout=120) == model_bytes(alone.path)
    child.join(60)
    ended.append(KeyError("enough"))
    thread.join(60)
    assert child.exitcode == 0 and not thread.is_alive() and len(ended) == 2
    assert locus.Run(tmp_path / "long").status == "interrupted"


def test_errors_have_the_text_of_the_command_line(tmp_path, program):
    (tmp_path / "empty.toml").write_text("", encoding="utf-8")
    printed = program("train", "empty.toml", "pe.sigm=1", "--out", "x", code=2)
    with pytest.raises(locus.ConfigError) as caught:
        locus.train(tmp_path / "empty.toml", {"pe.sigm": 1}, out=tmp_path / "x")
    assert printed.strip() == "error: " + str(caught.value)
    assert caught.value.hint == "did you mean pe.sigma?" and isinstance(caught.value, ValueError)
    absent = tmp_path / "absent.toml"
    printed = program("train", absent, "--out", "x", code=2)
    with pytest.raises(locus.ConfigError) as caught:
        locus.train(absent, out=tmp_path / "x")
    assert printed.strip() == "error: " + str(caught.value)
    with pytest.raises(locus.IoError) as caught:
        locus.Run(tmp_path / "none")
    assert "none" in str(caught.value) and isinstance(caught.value, OSError)
    assert not (tmp_path / "x").exists()


def test_divergence_is_an_error_and_leaves_a_summary(tmp_path):
    with pytest.raises(locus.DivergenceError, match="diverged"):
        locus.train(TINY, {"optim.lr": 1e6, "optim.kind": "sgd"}, out=tmp_path / "run")
    assert locus.Run(tmp_path / "run").status == "diverged"


def test_arrays_with_classes_numbers_or_neither(tmp_path):
    rng = np.random.RandomState(0)
    X = rng.randn(200, 6).astype(np.float32)
    names = np.where(X[:, 1] > 0, "up", "down")
    run = locus.train(data={"train": (X[:150], names[:150]), "test": (X[150:], names[150:])}, settings={"stop.steps": 300},
                      out=tmp_path / "classes", tokens=list("abcdef"))
    assert run.results["test.accuracy"] > 0.9 and run.classes == ["down", "up"]
    assert (np.array(run.classes)[run.model().predict(X[150:])] == names[150:]).mean() == pytest.approx(run.results["test.accuracy"])
    assert run.model().shape["token_names"] == list("abcdef")
    y = np.stack([X[:, 0] + X[:, 1], X[:, 2]], 1)
    run = locus.train(data={"train": (X[:150], y[:150]), "test": (X[150:], y[150:])}, settings={"stop.steps": 400},
                      out=tmp_path / "numbers")
    out = run.model().predict(X[150:])
    assert out.shape == (50, 2)
    assert np.square(out - y[150:]).mean() == pytest.approx(run.results["test.mse"], rel=1e-5)
    assert run.results["test.mse"] < 0.5 * y[150:].var()
    X[:, 3] = X[:, 0]
    run = locus.train(data=X, settings={"stop.steps": 600}, out=tmp_path / "neither")
    masked = np.zeros(X.shape, dtype=bool)
    masked[:, 3] = True
    filled = run.model().predict(X, masked)
    assert np.array_equal(filled[~masked], X[~masked])
    assert np.square(filled[:, 3] - X[:, 3]).mean() < 0.5
    with pytest.raises(locus.DataError, match="arrays of another program"):
        run.model().evaluate()


@pytest.mark.parametrize("data, words", [
    ((np.zeros((4, 3)), np.zeros(4, dtype=int)), "one class"),
    ((np.full((4, 3), np.nan), np.array([0, 1, 0, 1])), "NaN"),
    ((np.zeros((4, 3)), np.array([0, 1, 0])), "do not fit"),
    ((np.zeros((0, 3)), np.zeros(0, dtype=int)), "one class|no samples"),
    ((np.zeros(5), np.array([0, 1, 0, 1, 1])), "wrong shape"),
    (({}), "no training data|tokens"),
])
def test_bad_arrays_are_refused_and_leave_nothing(tmp_path, data, words):
    with pytest.raises(locus.Error, match=words):
        locus.train(data=data, out=tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_a_sweep_and_its_interruption(tmp_path):
    runs = locus.sweep(TINY, {"pe.sigma": [0.1, 1], "seed": range(2)}, out=tmp_path / "sweep", jobs=2)
    assert len(runs) == 4
    table = runs.frame()
    assert sorted(table["pe.sigma"]) == [0.1, 0.1, 1.0, 1.0] and list(table["status"]) == ["finished"] * 4
    with pytest.raises(locus.ConfigError, match="pe.sigma"):
        locus.sweep(TINY, {"pe.sigmaa": [1, 2]}, out=tmp_path / "bad")
    done = locus.analyze(runs, "movement")
    assert set(done["state"]) == {"computed"}
    assert set(locus.analyze(runs, "movement")["state"]) == {"cached"}
    page = locus.report(runs, tmp_path / "report.html")
    assert "<svg" in text(page)
    with pytest.raises(locus.ConfigError, match="did you mean movement"):
        locus.analyze(runs, "movment")
    json.dumps(runs[0].analysis("movement", table=False))


def test_columns_of_frames_go_by_their_names(tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    X = pandas.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    y = pandas.Series(rng.integers(0, 2, size=60))
    test, labels = X.iloc[:20], y.iloc[:20]
    settings = {"stop.steps": 2, "model.width": 8, "model.layers": 1}

    def losses(name, frame):
        run = locus.train(settings, data={"train": (X, y), "test": (frame, labels)}, out=tmp_path / name)
        assert run.model().shape["token_names"] == list("abcd")
        return run.results["test.loss"]

    assert losses("turned", test[["d", "b", "a", "c"]]) == losses("plain", test)
    with pytest.raises(locus.DataError, match="not those of training"):
        losses("other", test.rename(columns={"a": "e"}))
    with pytest.raises(locus.DataError, match="another order"):
        locus.train(settings, data=(X, y.iloc[::-1]), out=tmp_path / "rows")


def test_what_is_missing_is_no_class_and_no_number(tmp_path):
    X = np.random.default_rng(4).normal(size=(40, 3))
    y = np.arange(40) % 2 * 1.0
    run = locus.train({"stop.steps": 2, "model.width": 8, "model.layers": 1}, data=(X, y), task="classify", out=tmp_path / "run")
    for bad in (np.nan, np.inf, 1e300):
        with pytest.raises(locus.DataError, match="sample 2"):
            run.model().predict(np.where(np.arange(120).reshape(40, 3) == 7, bad, X))
    y[5] = np.nan
    with pytest.raises(locus.DataError, match="a class is missing"):
        locus.train(data=(X, y), task="classify", out=tmp_path / "other")
