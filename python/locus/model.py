"""A trained model, computed by the engine."""
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _locus


class Model:
    """The model of a run: `Run.model()`.

    Inputs are arrays of integers (samples, tokens) for models that read tokens by number (-1 is a blank), else of numbers
    (samples, tokens) or (samples, tokens, features). An array of int16 or float32 in C order is read where it lies. Methods may be
    called from several threads at once; they release Python's lock.
    """

    def __init__(self, folder: str, name: str = "") -> None:
        self._engine = _locus.Model(folder, name)

    @property
    def name(self) -> str:
        """Which model of the run it is: "final", "init", "snapshots/10", ..."""
        return self._engine.name

    @property
    def shape(self) -> Dict[str, Any]:
        """Tokens, features, outputs, layers, whether tokens are ids, the read-out, names of the tokens."""
        return self._engine.shape

    def outputs(self, X: ArrayLike, masked: Optional[ArrayLike] = None, read_token: Optional[ArrayLike] = None,
                threads: int = 0) -> NDArray[np.float32]:
        """Outputs of the head: a row for each sample, or for each token that is read (hidden ones in order)."""
        return self._engine.outputs(np.asarray(X), _flags(masked), _integers(read_token), threads)

    def predict(self, X: ArrayLike, masked: Optional[ArrayLike] = None, read_token: Optional[ArrayLike] = None,
                threads: int = 0) -> NDArray[Any]:
        """The class of each sample (from 0), or its predicted numbers; for hidden tokens X with them filled in."""
        out = self.outputs(X, masked, read_token, threads)
        shape = self.shape
        if not shape["regression"]:
            return out.argmax(axis=1)
        if shape["readout"] == "masked":
            filled = np.array(X, dtype=np.float32)
            filled[np.asarray(masked, dtype=bool)] = out if filled.ndim == 3 else out[:, 0]
            return filled
        if shape["readout"] == "every":
            return out.reshape(np.shape(X))
        return out

    def probabilities(self, X: ArrayLike, read_token: Optional[ArrayLike] = None, threads: int = 0) -> NDArray[np.float64]:
        """Of each class: the softmax of the outputs of a classifier."""
        logits = self.outputs(X, None, read_token, threads).astype(np.float64)
        logits -= logits.max(axis=1, keepdims=True)
        np.exp(logits, out=logits)
        return logits / logits.sum(axis=1, keepdims=True)

    def attention(self, X: ArrayLike, masked: Optional[ArrayLike] = None,
                  read_token: Optional[ArrayLike] = None) -> NDArray[np.float32]:
        """Attention weights: (samples, layers, heads, queries, keys). A single sample may be given without its first axis."""
        rows, single = self._batched(X)
        out = self._engine.attention(rows, *_batched_like(single, masked, read_token))
        return out[0] if single else out

    def hidden(self, X: ArrayLike, masked: Optional[ArrayLike] = None, read_token: Optional[ArrayLike] = None,
               names: Sequence[str] = ()) -> Dict[str, NDArray[np.float32]]:
        """Inner values by name, all or those of `names`: "embed", "blocks.0.input" (positions added), "blocks.0.attn.q",
        "blocks.0.mid", "blocks.0.output", ... as (samples, tokens, channels). A CLS token comes last. A single sample may be given
        without its first axis; its values have none either."""
        rows, single = self._batched(X)
        out = self._engine.hidden(rows, *_batched_like(single, masked, read_token), list(names))
        # Values of the tokens that are read alone (two axes) have a row for each, not for each sample.
        of_samples = self.shape["readout"] not in ("masked", "every")
        return {name: a[0] if a.ndim == 3 or of_samples else a for name, a in out.items()} if single else out

    def gradients(self, X: ArrayLike, y: Optional[ArrayLike] = None, masked: Optional[ArrayLike] = None,
                  read_token: Optional[ArrayLike] = None, threads: int = 0) -> Tuple[float, Dict[str, NDArray[np.float32]]]:
        """Loss and gradient of every tensor for one batch, as a step of training without dropout computes them. y: classes from 0, or
        numbers; models of hidden tokens predict X itself."""
        return self._engine.gradients(np.asarray(X), y, _flags(masked), _integers(read_token), threads)

    def encodings(self) -> List[NDArray[np.float64]]:
        """What each layer with positions of its own adds to its input: (tokens, width). DataError where nothing is added."""
        return [code for _, code in self._engine.codes()]

    def parameters(self) -> Dict[str, NDArray[np.float32]]:
        """Every tensor by its name (those of PyTorch)."""
        return self._engine.parameters()

    def evaluate(self, *splits: str, threads: int = 0) -> Dict[str, float]:
        """Measures on the run's own data, as `locus eval` gives them."""
        return self._engine.evaluate(list(splits), threads)

    def _batched(self, X: ArrayLike) -> Tuple[NDArray[Any], bool]:
        array = np.asarray(X)
        single = array.ndim == (1 if self.shape["ids"] or self.shape["features"] == 1 else 2)
        return (array[None] if single else array), single

    def __repr__(self) -> str:
        s = self.shape
        return f"<locus.Model {self.name}: {s['tokens']} tokens, {s['layers']} layers, {s['outputs']} outputs>"


def _flags(masked: Optional[ArrayLike]) -> Optional[NDArray[np.bool_]]:
    return None if masked is None else np.asarray(masked, dtype=bool)


def _integers(values: Optional[ArrayLike]) -> Optional[NDArray[np.int32]]:
    return None if values is None else np.asarray(values, dtype=np.int32)


def _batched_like(single: bool, masked: Optional[ArrayLike], read_token: Optional[ArrayLike]) \
        -> Tuple[Optional[NDArray[np.bool_]], Optional[NDArray[np.int32]]]:
    """Flags and read tokens with the axis of samples that X was given."""
    flags, tokens = _flags(masked), _integers(read_token)
    return (flags[None] if single and flags is not None else flags,
            tokens.reshape(-1) if single and tokens is not None else tokens)
