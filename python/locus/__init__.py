"""Locus learns where tokens are: small transformer encoders with learnable positional encodings.

    import locus
    run = locus.train("configs/lst/default.toml", {"pe.sigma": 0.1}, out="runs/a")
    run.metrics, run.encoding(0, change=True), run.model().predict(X)

`Run` and `Runs` read what trainings left on disk, `train`, `sweep`, `analyze` and `report` make it. `locus.LocusClassifier`,
`LocusRegressor` and `LocusEncoder` are estimators for scikit-learn; `locus.pytorch` has the same model for PyTorch. Everything is
computed by the same library as that of the command line.
"""
import importlib
from typing import TYPE_CHECKING, Any, List

from ._locus import build as _build
from .errors import ConfigError, DataError, DivergenceError, Error, IoError, StopTraining
from .model import Model
from .runs import Run, Runs
from .training import analyze, config, keys, plot, report, sweep, train

__version__: str = _build()["version"]
__all__ = ["ConfigError", "DataError", "DivergenceError", "Error", "IoError", "LocusClassifier", "LocusEncoder", "LocusRegressor",
           "Model", "Run", "Runs", "StopTraining", "analyze", "config", "keys", "plot", "report", "sweep", "train"]

if TYPE_CHECKING:
    from .estimators import LocusClassifier, LocusEncoder, LocusRegressor

_ESTIMATORS = ("LocusClassifier", "LocusEncoder", "LocusRegressor")
_MODULES = ("estimators", "pytorch")


def __getattr__(name: str) -> Any:
    """What needs scikit-learn or PyTorch is imported when asked for: these take longer to import than everything else here."""
    if name in _ESTIMATORS:
        return getattr(importlib.import_module(".estimators", __name__), name)
    if name in _MODULES:
        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"module 'locus' has no attribute {name!r}")


def __dir__() -> List[str]:
    return sorted([*globals(), *_ESTIMATORS, *_MODULES])
