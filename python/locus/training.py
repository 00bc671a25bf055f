"""Training, sweeps, analyses and reports."""
import os
import signal
import subprocess
import tempfile
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _locus
from .errors import ConfigError, DataError, Error, StopTraining
from .program import BINARY, config_file
from .runs import Frame, PathLike, Run, Runs, frame

Settings = Union[Mapping[str, Any], Sequence[str], None]
ConfigLike = Union[PathLike, Mapping[str, Any], None]
Callback = Callable[[Dict[str, Any]], Any]
RunsLike = Union[PathLike, Run, Runs, Sequence[Any]]
Data = Union[ArrayLike, Tuple[ArrayLike, ArrayLike], Mapping[str, Any]]


def _text(value: Any) -> str:
    """A value as it is typed after key=."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, np.ndarray)):
        return "[" + ",".join(_text(v) for v in value) + "]"
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(value)


def assignments(settings: Settings, prefix: str = "") -> List[str]:
    """Settings as key=value: nested or with dots, or already typed."""
    if settings is None:
        return []
    if not isinstance(settings, Mapping):
        return [str(s) for s in settings]
    out: List[str] = []
    for key, value in settings.items():
        out += assignments(value, f"{prefix}{key}.") if isinstance(value, Mapping) else [f"{prefix}{key}={_text(value)}"]
    return out


def config(source: ConfigLike = None, settings: Settings = None) -> _locus.Config:
    """A configuration: a TOML file (one that comes with the package may be named as "configs/lst/default.toml") or a mapping, with
    `settings` over it. It has `values()` and `toml()`; every mistake is a ConfigError that names the nearest key."""
    return _configuration(source, settings, [])


def _configuration(source: ConfigLike, settings: Settings, first: List[str], check: bool = True) -> _locus.Config:
    if isinstance(source, _locus.Config):
        raise ConfigError("a configuration that is already made takes no settings: give them to config()")
    path = "" if source is None or isinstance(source, Mapping) else config_file(os.fspath(source))
    given = assignments(source) if isinstance(source, Mapping) else []
    return _locus.Config(path, first + given + assignments(settings), check)


def keys() -> Frame:
    """Every key of a configuration with its type, default and meaning."""
    rows = _locus.keys()
    return frame({name: [row[name] for row in rows] for name in ("key", "type", "default", "help")})


def _classes_of(splits: List[Tuple[str, Any, Any]]) -> NDArray[Any]:
    return np.unique(np.concatenate([np.asarray(y).ravel() for _, _, y in splits]))


def _titles(X: Any) -> Optional[List[str]]:
    """Names of the columns of a frame."""
    return [str(c) for c in X.columns] if hasattr(X, "columns") else None


def _by_titles(X: Any, titles: Optional[List[str]], split: str) -> np.ndarray:
    """X with the columns of a frame in the order of training's, which `titles` has."""
    own = _titles(X)
    if titles is None or own is None or own == titles:
        return np.asarray(X)
    if len(set(titles)) < len(titles) or sorted(own) != sorted(titles):
        other = sorted(set(own) ^ set(titles)) or own
        raise DataError("the columns are not those of training", where=split, got=", ".join(other[:6]))
    return np.asarray(X)[:, [own.index(t) for t in titles]]


def _check_rows(X: Any, y: Any, split: str) -> None:
    """Rows that are named in both go together by name: in another order they would be mixed."""
    if not hasattr(X, "columns") or not hasattr(y, "index") or callable(y.index) or X.index.equals(y.index):
        return
    if len(X.index) == len(y.index) and X.index.is_unique and X.index.isin(y.index).all():
        raise DataError("the rows of X and y are the same in another order", where=split, hint="y = y.loc[X.index]")


def _arrays(data: Data, task: str, tokens: Optional[Sequence[str]], coordinates: Optional[ArrayLike]) -> Dict[str, Any]:
    """What the engine is handed: splits with labels from 0, targets, or neither."""
    parts = dict(data) if isinstance(data, Mapping) else {"train": data}
    splits: List[Tuple[str, Any, Any]] = []
    titles: Any = None
    for name in sorted(parts, key=lambda n: n != "train"):
        part = parts[name]
        X, y = part if isinstance(part, tuple) else (part, None)
        titles = _titles(X) if name == "train" else titles
        _check_rows(X, y, name)
        splits.append((name, _by_titles(X, titles, name), None if y is None else np.asarray(y)))
    given = [y is not None for _, _, y in splits]
    if any(given) and not all(given):
        raise DataError("some splits have targets and some have none", where="data")
    if task == "auto":
        task = "masked" if not any(given) else "regress" if splits[0][2].dtype.kind == "f" else "classify"
    out: Dict[str, Any] = {"task": task, "classes": 0, "outputs": 0, "class_names": [], "names": [str(t) for t in tokens or titles or []],
                           "coordinates": None if coordinates is None else np.asarray(coordinates, dtype=float)}
    if task == "classify":
        for name, _, y in splits:
            if y.dtype.kind == "f" and np.isnan(y).any():
                raise DataError("a class is missing", where=name, got=f"NaN in sample {int(np.isnan(y.ravel()).argmax())}")
        classes = _classes_of(splits)
        if len(classes) < 2:
            raise DataError("there is one class only: nothing can be told apart", where="data", got=str(classes))
        out["classes"], out["class_names"] = len(classes), [str(c) for c in classes]
        splits = [(n, X, np.searchsorted(classes, y.ravel()).astype(np.int32)) for n, X, y in splits]
    elif task == "regress":
        splits = [(n, X, np.asarray(y, dtype=np.float32).reshape(len(X), -1)) for n, X, y in splits]
        out["outputs"] = splits[0][2].shape[1]
    elif task != "masked":
        raise ConfigError(f"task: no such task\n  got:      {task}\n  expected: auto, classify, regress or masked")
    out["splits"] = splits
    return out


def train(config: ConfigLike = None, settings: Settings = None, *, data: Optional[Data] = None, task: str = "auto",
          tokens: Optional[Sequence[str]] = None, coordinates: Optional[ArrayLike] = None, out: Optional[PathLike] = None,
          callbacks: Union[Callback, Iterable[Callback]] = (), threads: int = 0, baselines: bool = True,
          verbose: bool = False) -> Run:
    """Trains one encoder in this process and returns its run. The same call goes on where an interrupted one stopped.

    config, settings: as for `config()`. Without data they say what is learned, as `locus train` reads them; the result has the same
        bytes.
    data: (X, y), X alone (then hidden tokens are predicted), or a mapping of splits to these, "train" among them. X is (samples,
        tokens) or (samples, tokens, features); y classes of any names, or floating-point numbers (samples,) or (samples, outputs).
        Without a configuration, settings that suit most tables are taken. `task` says classify, regress or masked outright.
    tokens, coordinates: names of the tokens and where they are, for reports and for encodings that use places.
    out: the run's folder; without it a new temporary one.
    callbacks: called about five times a second and after each evaluation with a dictionary: epoch, step, total_steps, loss, accuracy,
        steps_per_second, seconds_left, and metrics (None between evaluations).

    Ctrl-C and whatever a callback raises end the training after the current step: a checkpoint is written, then the exception goes
    on. `StopTraining` from a callback ends it quietly. Other threads of Python run meanwhile.
    """
    arrays = None if data is None else _arrays(data, task, tokens, coordinates)
    first = [] if arrays is None or not (config is None or isinstance(config, Mapping)) else _locus.array_settings(arrays["task"])
    made = _configuration(config, settings, first)
    folder = tempfile.mkdtemp(prefix="locus-") if out is None else os.fspath(out)
    calls = [callbacks] if callable(callbacks) else list(callbacks)
    if verbose:
        calls.append(_Printer())

    def progress(state: Dict[str, Any]) -> None:
        for call in calls:
            call(state)

    try:
        _locus.train(made, arrays, folder, threads, progress if calls else None, print if verbose else None, baselines,
                     "locus.train in Python")
    except StopTraining:
        pass
    return Run(folder)


class _Printer:
    """A line for each evaluation."""

    def __call__(self, state: Dict[str, Any]) -> None:
        if state["metrics"] is not None:
            shown = {k: v for k, v in state["metrics"].items() if k.count(".") == 1}
            print(f"epoch {state['epoch']:>4}  " + "  ".join(f"{k} {v:.4g}" for k, v in shown.items()), flush=True)


def _axis(key: str, value: Any) -> str:
    values = value if isinstance(value, (list, tuple, range, np.ndarray)) else [value]
    return f"{key}=" + ",".join(_text(v) for v in values)


def sweep(file: ConfigLike, axes: Settings = None, *, out: PathLike, jobs: int = 0, threads: int = 0, retry: int = 0,
          when: Sequence[str] = (), verbose: bool = False) -> Runs:
    """Trains every cell of a grid in processes of their own and returns its runs; finished cells never run twice.

    file: a sweep file, or a configuration. axes: {"pe.sigma": [0.1, 0.5], "seed": range(5)}, or texts as `locus sweep` takes them.
    Ctrl-C lets the cells write checkpoints; the same call goes on. A cell that failed is told of in a warning.
    """
    typed = [_axis(k, v) for k, v in axes.items()] if isinstance(axes, Mapping) else assignments(axes)
    with tempfile.TemporaryDirectory() as scratch:
        if file is None or isinstance(file, Mapping):
            path = os.path.join(scratch, "config.toml")
            with open(path, "w", encoding="utf-8") as base:
                base.write(_configuration(file, None, [], check=False).toml())
        else:
            path = config_file(os.fspath(file))
        _locus.sweep_cells(path, typed, list(when))  # a mistake is told of before anything is started
        command = [BINARY, "sweep", path, *typed, "--out", os.fspath(out)]
        command += [word for condition in when for word in ("--when", condition)]
        for option, value in (("--jobs", jobs), ("--threads", threads), ("--retry", retry)):
            command += [option, str(value)] if value else []
        _run_program(command + ([] if verbose else ["--quiet"]), verbose)
    return Runs(out)


def _run_program(command: List[str], verbose: bool) -> None:
    """Runs the program; Ctrl-C is passed on, so that it ends as it would in a terminal."""
    pipe = None if verbose else subprocess.PIPE
    child = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    try:
        output, errors = child.communicate()
    except BaseException:
        child.send_signal(signal.SIGINT)
        child.communicate()
        raise
    if child.returncode == 3:
        import warnings
        warnings.warn("some cells failed:\n" + (output or ""), RuntimeWarning, stacklevel=3)
    elif child.returncode == 75:
        raise InterruptedError("the sweep was stopped; the same call goes on from here")
    elif child.returncode != 0:
        text = (errors or "").strip().removeprefix("error: ") or f"the program ended with {child.returncode}"
        raise (ConfigError if child.returncode == 2 else Error)(text)


def _folders(runs: RunsLike) -> List[str]:
    if isinstance(runs, Run):
        return [runs.path]
    if isinstance(runs, Runs):
        return list(runs.folders)
    if isinstance(runs, (str, os.PathLike)):
        return [os.fspath(runs)]
    return [folder for r in runs for folder in _folders(r)]


def analyze(runs: RunsLike, *only: str, settings: Settings = None, force: bool = False,
            threads: int = 0) -> Frame:
    """Analyses runs as `locus analyze` does: a row for each, with its state (computed, cached, not available) and why."""
    rows = _locus.analyze(_folders(runs), list(only), assignments(settings), force, threads)
    names = ("run", "analysis", "state", "seconds", "message", "file")
    return frame({name: [row[name] for row in rows] for name in names})


def report(runs: RunsLike, out: PathLike = "report.html", title: str = "") -> str:
    """Writes one self-contained page about runs, with every figure beside it; returns its path."""
    return _locus.report(_folders(runs), os.fspath(out), title)["page"]


@overload
def plot() -> Frame: ...


@overload
def plot(name: str, runs: RunsLike, **choices: Any) -> str: ...


def plot(name: Optional[str] = None, runs: RunsLike = (), **choices: Any) -> Union[Frame, str]:
    """A figure as SVG text; without a name the figures there are, with what they need."""
    if name is None:
        rows = _locus.figures()
        return frame({"figure": [r[0] for r in rows], "title": [r[1] for r in rows], "needs": [r[2] for r in rows]})
    return _locus.plot(name, _folders(runs), [f"{key}={value}" for key, value in choices.items()])
