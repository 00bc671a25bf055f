"""Shared by the tests of the package: small configurations, runs of them, and the program that came with it."""
import os
import subprocess

import pytest

from locus.program import BINARY

TINY = {"study": "lst", "seed": 1, "model": {"layers": 2, "width": 16, "heads": 2}, "pe": {"sigma": 0.1}, "train": {"batch": 16},
        "stop": {"epochs": 3}, "watch": {"checkpoint_seconds": 0, "checkpoint_every": 1},
        "lst": {"n": 3, "per_difficulty": 20, "heldout_items": 1, "rotations": 1, "min_distance": 0.0}}
NMAR = {"study": "masked", "model": {"layers": 1, "width": 8, "readout": "masked"}, "stop": {"epochs": 0, "steps": 20},
        "nmar": {"sizes": [3, 3], "train_samples": 50, "validation_samples": 10, "test_samples": 10}}


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    """Generated puzzles are kept among the tests' own files."""
    monkeypatch.setenv("LOCUS_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture
def program(tmp_path):
    """Runs the program in the test's folder; returns what it printed."""
    def run(*arguments, code=0):
        done = subprocess.run([BINARY, *map(str, arguments)], cwd=tmp_path, capture_output=True, text=True,
                              env={**os.environ, "NO_COLOR": "1"})
        assert done.returncode == code, done.stderr
        return done.stdout if code == 0 else done.stderr
    return run
