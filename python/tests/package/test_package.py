"""The package as users and their tools see it: hints, docstrings, documentation that runs, the program that comes with it."""
import ast
import inspect
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import locus
from conftest import TINY
from locus import _locus

FOLDER = os.path.dirname(locus.__file__)
DOCUMENTATION = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "docs", "python.md")


def public_functions():
    """Names and functions that users call: of the package, of its classes, of locus.pytorch."""
    modules = [locus, *([locus.pytorch] if _has("torch") else [])]
    names = [(module, name) for module in modules for name in getattr(module, "__all__", ("Module", "Trainer", "load", "save", "resume"))]
    for module, name in names:
        thing = getattr(module, name)
        if not inspect.isclass(thing):
            yield name, thing
            continue
        yield name, thing.__init__
        for key, member in vars(thing).items():
            member = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
            if not key.startswith("_") and inspect.isfunction(member):
                yield f"{name}.{key}", member


def _has(module):
    try:
        __import__(module)
    except ImportError:
        return False
    return True


def test_everything_public_has_type_hints_and_says_what_it_does():
    seen = 0
    for name, function in public_functions():
        if not inspect.isfunction(function) or "locus" not in (function.__module__ or ""):
            continue
        signature = inspect.signature(function)
        hints = [p.annotation for key, p in signature.parameters.items() if key != "self"] + [signature.return_annotation]
        assert inspect.Signature.empty not in hints, f"{name} lacks a type hint"
        assert name[0].isupper() and "." not in name or function.__doc__, f"{name} does not say what it does"
        seen += 1
    assert seen > 50


def test_the_stub_lists_what_the_extension_has():
    with open(os.path.join(FOLDER, "_locus.pyi"), encoding="utf-8") as file:
        stub = ast.parse(file.read())

    def names(body):
        return {node.name for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name != "__init__"}

    assert names(stub.body) == {name for name in dir(_locus) if not name.startswith("_")}
    for node in stub.body:
        if isinstance(node, ast.ClassDef):
            assert names(node.body) == {name for name in dir(getattr(_locus, node.name)) if not name.startswith("_")}, node.name


def test_a_type_checker_accepts_the_package():
    pytest.importorskip("mypy")
    files = [os.path.join(FOLDER, name) for name in ("__init__.py", "estimators.py")]
    done = subprocess.run([sys.executable, "-m", "mypy", "--disallow-untyped-defs", "--disallow-incomplete-defs", "--ignore-missing-imports",
                           "--follow-imports=silent", "--cache-dir", os.devnull, *files], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_what_needs_other_packages_is_there_when_asked_for():
    assert {"LocusClassifier", "pytorch", "train"} <= set(dir(locus))
    with pytest.raises(AttributeError, match="no attribute 'tarin'"):
        locus.tarin


def test_the_documentation_runs(tmp_path, monkeypatch):
    """Every code span of its table and every block of Python, in order."""
    torch = pytest.importorskip("torch")
    from sklearn.model_selection import GridSearchCV
    with open(DOCUMENTATION, encoding="utf-8") as file:
        page = file.read()
    (tmp_path / "configs" / "lst").mkdir(parents=True)
    (tmp_path / "configs" / "lst" / "default.toml").write_text(locus.config(TINY).toml(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(locus.estimators, "FEWEST_STEPS", 20)
    rng = np.random.RandomState(0)
    X = rng.randn(40, 6).astype(np.float32)
    names = {"locus": locus, "torch": torch, "GridSearchCV": GridSearchCV, "X": X, "y": (X[:, 0] > 0).astype(int)}
    table = [line for line in page.split("\n") if line.startswith("| ") and not line.startswith("| to |")]
    spans = [span for line in table for span in re.findall(r"`([^`]+)`", line.split("|", 2)[2])]
    assert len(spans) > 20
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.S)
    assert len(blocks) >= 2
    for code in spans + blocks:
        exec(compile(code, DOCUMENTATION, "exec"), names)
    assert len(names["runs"]) == 10 and names["run"].status == "finished"


def test_the_program_comes_along_and_finds_its_configurations_anywhere(tmp_path):
    command = os.path.join(os.path.dirname(sys.executable), "locus")
    done = subprocess.run([command, "config", "configs/lst/paper.toml", "--key", "pe.sigma"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "sigma = " in done.stdout, done.stderr
    assert locus.config("configs/lst/paper.toml").values()["study"] == "lst"
    version = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    assert locus.__version__ in version
    assert not os.path.exists(os.path.join(FOLDER, "make_golden.py")), "a tool of the project, not of users"
