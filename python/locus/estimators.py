"""Estimators for scikit-learn. Columns of X are the tokens; their positional encoding is learned with the task.

    Pipeline([("select", SelectKBest(k=30)), ("locus", LocusClassifier(sigma=0.1))]).fit(X, y)
    GridSearchCV(LocusClassifier(), {"sigma": [0.05, 0.1, 0.5, 2]}).fit(X, y).best_params_
"""
import math
import os
import shutil
import tempfile
from typing import Any, Dict, Optional, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, RegressorMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from . import _locus
from .model import Model
from .runs import Run
from .training import train

AUTO_SIGMAS = (0.02, 0.1, 0.3, 1.0)  # what sigma="auto" tries
POSITION_RATE = 5  # times the learning rate: positions start small and have few steps to grow
FEWEST_STEPS = 400  # a small table is gone through so often
FEWEST_AUTO = 10  # samples with which sigma="auto" can be judged

# What a fitted estimator keeps of its run: enough to load its models and to pickle it.
_KEPT = ("config.toml", "manifest.json", "dataset.safetensors", "summary.json", "init/model.safetensors", "init/config.json",
         "final/model.safetensors", "final/config.json")


class _LocusEstimator(BaseEstimator):
    """What the three share: settings, scaling, training, and the model as bytes."""

    def __init__(self, sigma: Union[float, str] = 0.1, encoding: str = "learned", layers: int = 2, width: int = 32, heads: int = 2,
                 epochs: int = 30, batch_size: int = 32, learning_rate: float = 5e-3, weight_decay: float = 0.0,
                 settings: Optional[Dict[str, Any]] = None, random_state: Any = 0, threads: int = 1, out: Optional[str] = None) -> None:
        self.sigma = sigma
        self.encoding = encoding
        self.layers = layers
        self.width = width
        self.heads = heads
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.settings = settings
        self.random_state = random_state
        self.threads = threads
        self.out = out

    _readout = "mean"
    _task = "classify"

    def _seed(self) -> int:
        if self.random_state is None:
            return int(np.random.randint(1 << 31))
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(self.random_state.randint(1 << 31))

    def _configuration(self, sigma: float, samples: int, seed: int) -> Dict[str, Any]:
        steps = max(FEWEST_STEPS, self.epochs * math.ceil(samples / min(self.batch_size, samples)))
        config = {"seed": seed, "model.layers": self.layers, "model.width": self.width, "model.heads": self.heads,
                  "model.readout": self._readout, "pe.kind": self.encoding, "pe.sigma": sigma, "optim.kind": "adamw",
                  "optim.lr": self.learning_rate, "optim.weight_decay": self.weight_decay, "optim.schedule": "cosine",
                  "optim.schedule_steps": steps, "optim.warmup_steps": min(20, steps // 10),
                  "optim.group_lr": [f"*pe.*={POSITION_RATE}"], "train.batch": self.batch_size,
                  "stop.epochs": 0, "stop.steps": steps, "watch.eval_steps": max(1, steps // 10),
                  # An estimator that is kept in memory alone needs none.
                  "watch.checkpoint_every": 1 if self.out else 1_000_000_000}
        config.update(self.settings or {})
        return config

    def _train(self, X: NDArray[Any], y: Optional[NDArray[Any]], sigma: float, seed: int, out: Optional[str]) -> Dict[str, bytes]:
        scratch = tempfile.mkdtemp(prefix="locus-") if out is None else None
        folder = os.path.join(scratch, "run") if scratch else os.fspath(out or "")
        try:
            train(self._configuration(sigma, len(X), seed), data={"train": (X, y)}, task=self._task, out=folder,
                  threads=self.threads, baselines=False)
            return {name: _read(os.path.join(folder, name)) for name in _KEPT if os.path.exists(os.path.join(folder, name))}
        finally:
            if scratch:
                shutil.rmtree(scratch, ignore_errors=True)

    def _fit(self, X: NDArray[Any], y: Optional[NDArray[Any]]) -> None:
        self.mean_ = X.mean(axis=0)
        spread = X.std(axis=0)
        # A column that does not vary, but for rounding, says nothing: it stays 0.
        self.scale_ = np.where(spread > 1e-12 * (1 + np.abs(self.mean_)), spread, 1.0)
        scaled, seed = self._scaled(X), self._seed()
        self.sigma_ = self._chosen_sigma(scaled, y, seed)
        self._files = self._train(scaled, y, self.sigma_, seed, self.out)
        self._load()

    def _scaled(self, X: NDArray[Any]) -> NDArray[np.float32]:
        return np.ascontiguousarray((X - self.mean_) / self.scale_, dtype=np.float32)

    def _chosen_sigma(self, X: NDArray[Any], y: Any, seed: int) -> float:
        """With "auto" the one with the least error on a fifth of the samples that the others are trained without."""
        if self.sigma != "auto":
            return float(self.sigma)
        if len(X) < FEWEST_AUTO:
            return 0.1
        held = np.zeros(len(X), dtype=bool)
        held[np.random.RandomState(seed).permutation(len(X))[: len(X) // 5]] = True
        if self._task == "classify":
            held &= np.isin(y, y[~held])  # a class that training does not see cannot be judged
            if len(np.unique(y[~held])) < 2 or not held.any():
                return 0.1
        self.sigma_errors_ = {}
        for sigma in AUTO_SIGMAS:
            known = np.unique(y[~held]) if self._task == "classify" else None
            self._files = self._train(X[~held], None if y is None else y[~held], sigma, seed, None)
            self._load()
            self.sigma_errors_[sigma] = self._error(X[held], None if y is None else y[held], known)
        return min(self.sigma_errors_, key=lambda sigma: self.sigma_errors_[sigma])

    def _error(self, X: NDArray[Any], y: Any, known: Any) -> float:
        raise NotImplementedError

    def _load(self) -> None:
        """The engine's model from the kept bytes."""
        with tempfile.TemporaryDirectory(prefix="locus-") as folder:
            for name, data in self._files.items():
                path = os.path.join(folder, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as file:
                    file.write(data)
            self._engine = Model(folder, "final")
            self._begin = Model(folder, "init")

    def _outputs(self, X: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self)
        return self._engine.outputs(self._scaled(self._checked(X)), threads=self.threads).astype(np.float64)

    def _checked(self, X: ArrayLike) -> NDArray[np.float64]:
        """Rows with the columns of the training data; an error that says what is wrong with them."""
        rows: NDArray[np.float64] = self._validate_data(X, reset=False, dtype=np.float64)
        return rows

    @property
    def positions_(self) -> NDArray[np.float64]:
        """What the first layer adds for each token: (tokens, width)."""
        check_is_fitted(self)
        return self._engine.encodings()[0]

    @property
    def position_changes_(self) -> NDArray[np.float64]:
        """How the positions moved in training."""
        check_is_fitted(self)
        return self._engine.encodings()[0] - self._begin.encodings()[0]

    @property
    def similarity_(self) -> NDArray[np.float64]:
        """Cosines between the positions of all tokens after centring: (tokens, tokens)."""
        return _locus.similarity(self.positions_)

    def save_run(self, folder: str) -> Run:
        """Writes the fitted model as a run's folder, which `locus` and `locus.Run` read."""
        check_is_fitted(self)
        for name, data in self._files.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)
        return Run(folder)

    def __getstate__(self) -> Dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_engine", None)
        state.pop("_begin", None)
        return state

    def __setstate__(self, state: Dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_files" in self.__dict__:
            self._load()


class LocusClassifier(ClassifierMixin, _LocusEstimator):
    """Classifies rows of a table whose columns are tokens.

    sigma: how large the learned encoding starts, or "auto" (chosen on a fifth of the samples). encoding: pe.kind. epochs: passes over
    the data (a small table is gone through more often). settings: further keys of a configuration, over those above. threads: results
    are the same for any number. out: keep the run in this folder. Columns are scaled to mean 0 and deviation 1 by the training data.
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> "LocusClassifier":
        """Trains; y holds classes of any names."""
        rows, names = self._validate_data(X, y, dtype=np.float64)
        check_classification_targets(names)
        self.classes_, labels = np.unique(names, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("LocusClassifier needs samples of at least 2 classes; the data has one class only")
        self._fit(rows, labels)
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Probabilities of the classes, in the order of classes_."""
        return _softmax(self._outputs(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of each row."""
        best = self._outputs(X).argmax(axis=1)
        return self.classes_[best]

    def _error(self, X: NDArray[Any], y: Any, known: Any) -> float:
        p = _softmax(self._engine.outputs(X, threads=self.threads).astype(np.float64))
        return float(-np.log(np.maximum(p[np.arange(len(y)), np.searchsorted(known, y)], 1e-12)).mean())

    def _more_tags(self) -> Dict[str, Any]:
        return {"non_deterministic": self.random_state is None}


class LocusRegressor(RegressorMixin, _LocusEstimator):
    """Predicts one or several numbers for each row of a table whose columns are tokens. Settings as for LocusClassifier; targets are
    scaled as the columns are."""

    _task = "regress"

    def fit(self, X: ArrayLike, y: ArrayLike) -> "LocusRegressor":
        """Trains; y is (samples,) or (samples, outputs)."""
        rows, targets = self._validate_data(X, y, dtype=np.float64, multi_output=True, y_numeric=True)
        targets = np.asarray(targets, dtype=np.float64)
        self._one_output = targets.ndim == 1
        targets = targets.reshape(len(rows), -1)
        self.target_mean_ = targets.mean(axis=0)
        spread = targets.std(axis=0)
        self.target_scale_ = np.where(spread > 0, spread, 1.0)
        self._fit(rows, (targets - self.target_mean_) / self.target_scale_)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """The predicted numbers of each row."""
        out = self._outputs(X) * self.target_scale_ + self.target_mean_
        return out[:, 0] if self._one_output else out

    def _error(self, X: NDArray[Any], y: Any, known: Any) -> float:
        return float(np.square(self._engine.outputs(X, threads=self.threads) - y).mean())

    def _more_tags(self) -> Dict[str, Any]:
        return {"multioutput": True, "non_deterministic": self.random_state is None}


class LocusEncoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _LocusEstimator):
    """Learns where tokens are without labels: it predicts hidden columns from the others.

    `positions_` and `similarity_` are what it found; `transform` gives each row as the mean of its tokens after the last layer,
    `score` how well hidden columns are predicted. mask_ratio: the part that is hidden. Other settings as for LocusClassifier.
    """

    _readout = "masked"
    _task = "masked"

    def __init__(self, sigma: Union[float, str] = 0.1, encoding: str = "learned", layers: int = 2, width: int = 32, heads: int = 2,
                 epochs: int = 30, batch_size: int = 32, learning_rate: float = 5e-3, weight_decay: float = 0.0,
                 mask_ratio: float = 0.5, settings: Optional[Dict[str, Any]] = None, random_state: Any = 0, threads: int = 1,
                 out: Optional[str] = None) -> None:
        super().__init__(sigma, encoding, layers, width, heads, epochs, batch_size, learning_rate, weight_decay, settings,
                         random_state, threads, out)
        self.mask_ratio = mask_ratio

    def _configuration(self, sigma: float, samples: int, seed: int) -> Dict[str, Any]:
        return {"mask.ratio": self.mask_ratio, **super()._configuration(sigma, samples, seed)}

    def fit(self, X: ArrayLike, y: Any = None) -> "LocusEncoder":
        """Trains on rows of X; y is not used."""
        rows = self._validate_data(X, dtype=np.float64, ensure_min_features=2)
        self._n_features_out = self.width
        self._fit(rows, None)
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """(samples, width): the mean over tokens of the last layer's output, nothing hidden."""
        check_is_fitted(self)
        rows = self._scaled(self._checked(X))
        name = f"blocks.{self._engine.shape['layers'] - 1}.output" if self._engine.shape["layers"] else "embed"
        hidden = self._engine.hidden(rows, np.zeros(rows.shape, dtype=bool), names=[name])[name]
        return hidden.mean(axis=1, dtype=np.float64)

    def reconstruct(self, X: ArrayLike, masked: ArrayLike) -> NDArray[np.float64]:
        """X with the entries where `masked` is true predicted from the others."""
        check_is_fitted(self)
        rows, hidden = self._checked(X), np.asarray(masked, dtype=bool)
        filled = self._engine.predict(self._scaled(rows), hidden, threads=self.threads) * self.scale_ + self.mean_
        return np.where(hidden, filled, rows)

    def score(self, X: ArrayLike, y: Any = None) -> float:
        """Minus the mean squared error of hidden columns, in units of their deviation; the same columns are hidden each time."""
        check_is_fitted(self)
        return -self._error(self._scaled(self._checked(X)), None, None)

    def _error(self, X: NDArray[Any], y: Any, known: Any) -> float:
        masked = np.random.RandomState(12345).rand(*X.shape).argsort(axis=1) < max(1, round(self.mask_ratio * X.shape[1]))
        out = self._engine.outputs(X, masked, threads=self.threads)[:, 0]
        return float(np.square(out - X[masked]).mean())

    def _more_tags(self) -> Dict[str, Any]:
        return {"non_deterministic": self.random_state is None}


def _softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    logits = np.exp(logits - logits.max(axis=1, keepdims=True))
    return logits / logits.sum(axis=1, keepdims=True)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
