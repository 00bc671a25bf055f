"""Runs on disk: configuration, metrics, results, predictions, analyses and encodings."""
import csv
import html
import json
import os
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Sequence, Union, overload

import numpy as np
from numpy.typing import NDArray

from . import _locus
from .errors import DataError, Error
from .model import Model

if TYPE_CHECKING:
    from pandas import DataFrame as Frame
else:
    Frame = Any  # a dictionary of arrays where pandas is missing

PathLike = Union[str, "os.PathLike[str]"]


def frame(columns: Dict[str, Any]) -> Frame:
    """A pandas DataFrame of columns; a dictionary of NumPy arrays where pandas is missing."""
    try:
        import pandas
    except ImportError:
        return {name: np.asarray(values) for name, values in columns.items()}
    return pandas.DataFrame(columns)


def read_csv(path: str) -> Frame:
    """A CSV file as a frame. Columns of numbers become numbers."""
    try:
        import pandas
    except ImportError:
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        columns: Dict[str, List[Any]] = {name: [row[i] for row in rows[1:]] for i, name in enumerate(rows[0])}
        for name, values in columns.items():
            try:
                columns[name] = [float(v) for v in values]
            except ValueError:
                pass
        return frame(columns)
    return pandas.read_csv(path, keep_default_na=False, na_values=["nan", "NaN"])


class Run:
    """The folder of one training. What it holds is read when it is asked for; `reload()` looks again."""

    def __init__(self, folder: PathLike) -> None:
        self.path: str = os.fspath(folder)
        self._record: Dict[str, Any] = {}
        self.reload()

    def reload(self) -> "Run":
        """Reads the folder again: a training may have gone on."""
        self._record = _locus.read_run(self.path)
        return self

    @property
    def config(self) -> Dict[str, Any]:
        """The whole configuration, nested: `run.config["pe"]["sigma"]`."""
        return self._configuration().values()

    def _configuration(self) -> _locus.Config:
        config = self._record["config"]
        if config is None:
            raise DataError(f"{self.path}: the run has no readable configuration: {'; '.join(self.problems)}",
                            "the run has no readable configuration", self.path)
        return config

    @property
    def manifest(self) -> Dict[str, Any]:
        """What the run is and how it was started: hashes, version, machine, parameters."""
        return self._record["manifest"]

    @property
    def status(self) -> str:
        """finished, converged, interrupted, diverged, failed; training while a process works on it, unfinished or damaged."""
        return self._record["state"]["status"]

    @property
    def state(self) -> Dict[str, Any]:
        """Where the run stands or how it ended: status, reason, epochs, steps, seconds, measures."""
        return self._record["state"]

    @property
    def results(self) -> Dict[str, float]:
        """The last value of every measure, by name: `run.results["heldout.accuracy"]`."""
        return dict(self._record["state"]["measures"])

    @property
    def metrics(self) -> Frame:
        """One row for each evaluation: epoch, step, seconds, lr, grad_norm and every measure."""
        return frame(self._record["metrics"])

    @property
    def predictions(self) -> Frame:
        """predictions.csv: a row for each example (classification) or token (hidden tokens)."""
        return read_csv(os.path.join(self.path, "predictions.csv"))

    @property
    def models(self) -> List[str]:
        """Names of the stored models: init, snapshots, checkpoints, final."""
        return self._record["models"]

    @property
    def problems(self) -> List[str]:
        """What is missing or damaged."""
        return self._record["problems"]

    @property
    def classes(self) -> List[str]:
        """Names of the classes of a run that was trained on arrays: what the numbers of `predict` stand for."""
        return json.loads(self.manifest.get("data", {}).get("classes", "[]"))

    def model(self, name: str = "") -> Model:
        """A stored model, by default the trained one."""
        return Model(self.path, name)

    def encoding(self, layer: int = 0, change: bool = False, model: str = "") -> NDArray[np.float64]:
        """Positions that a layer adds to its input (tokens, width); with `change` how they differ from the beginning."""
        codes = self.model(model).encodings()
        if not -len(codes) <= layer < len(codes):
            raise IndexError(f"layer {layer}: the run has positions for {len(codes)} layers")
        return codes[layer] - self.model("init").encodings()[layer] if change else codes[layer]

    def similarity(self, layer: int = 0, change: bool = False) -> NDArray[np.float64]:
        """Cosines between the positions of all tokens after centring: (tokens, tokens)."""
        return _locus.similarity(self.encoding(layer, change))

    @property
    def analyses(self) -> List[str]:
        """Names of the analyses whose results are there."""
        folder = os.path.join(self.path, "analysis")
        return sorted(f[:-5] for f in os.listdir(folder) if f.endswith(".json")) if os.path.isdir(folder) else []

    def analysis(self, name: str, table: bool = True) -> Any:
        """The table of an analysis as a frame; all of its result as a dictionary with `table=False`. A result that is not of the
        model in the folder is an error."""
        result = _locus.read_analysis(self.path, name)
        path = os.path.join(self.path, "analysis", name + ".csv")
        return read_csv(path) if table and os.path.exists(path) else result

    def figure(self, name: str = "similarity", **choices: Any) -> str:
        """A figure of the report as SVG text; `locus.plot` lists them."""
        return _locus.plot(name, [self.path], [f"{key}={value}" for key, value in choices.items()])

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{html.escape(k)}</td><td>{v:.4g}</td></tr>" for k, v in self.results.items() if k.count(".") == 1)
        pictures = []
        for name in ("training_curves", "similarity"):
            try:
                pictures.append(f'<div style="display:inline-block;max-width:48%">{self.figure(name)}</div>')
            except Error:
                pass  # the run does not have what the figure shows
        return f"<p><b>{html.escape(self.path)}</b>: {self.status}</p><table>{rows}</table>{''.join(pictures)}"

    def __repr__(self) -> str:
        return f"<locus.Run {self.path}: {self.status}>"


class Runs(Sequence[Run]):
    """All runs at or below folders, in the order of their names."""

    def __init__(self, *folders: PathLike) -> None:
        self.folders = [os.fspath(f) for f in folders]
        self._runs = [Run(path) for path in _locus.find_runs(self.folders)]

    def __len__(self) -> int:
        return len(self._runs)

    @overload
    def __getitem__(self, index: int) -> Run: ...

    @overload
    def __getitem__(self, index: slice) -> List[Run]: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[Run, List[Run]]:
        return self._runs[index]

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs)

    def frame(self) -> Frame:
        """A row for each run: its folder, status, the keys in which the runs differ, and its last measures."""
        flat = [_flat(run.config) if not run.problems else {} for run in self._runs]
        keys = sorted({k for f in flat for k in f})
        differing = [k for k in keys if len({repr(f.get(k)) for f in flat}) > 1]
        measures = sorted({m for run in self._runs for m in run.results})
        columns: Dict[str, List[Any]] = {"run": [run.path for run in self._runs], "status": [run.status for run in self._runs]}
        columns.update({k: [f.get(k) for f in flat] for k in differing})
        columns.update({m: [run.results.get(m, float("nan")) for run in self._runs] for m in measures})
        return frame(columns)

    def _repr_html_(self) -> str:
        table = self.frame()
        return table._repr_html_() if hasattr(table, "_repr_html_") else f"<pre>{html.escape(repr(self))}</pre>"

    def __repr__(self) -> str:
        return f"<locus.Runs {', '.join(self.folders)}: {len(self)} runs>"


def _flat(nested: Dict[str, Any], prefix: str = "") -> Dict[str, Any]:
    out: Dict[str, Any] = {}
    for key, value in nested.items():
        if isinstance(value, dict):
            out.update(_flat(value, f"{prefix}{key}."))
        else:
            out[prefix + key] = value
    return out
