"""Errors of Locus: what went wrong, where, what was got and expected, and a hint. The text is that of the command line."""
from typing import Any, Tuple


class Error(Exception):
    """An error that a user can cause. The parts of the message are attributes; empty ones do not stand in the text."""

    def __init__(self, text: str, what: str = "", where: str = "", got: str = "", expected: str = "", hint: str = "") -> None:
        super().__init__(text)
        self.what, self.where, self.got, self.expected, self.hint = what or text, where, got, expected, hint

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.args[0], self.what, self.where, self.got, self.expected, self.hint)


class ConfigError(Error, ValueError):
    """A mistake in a configuration or in arguments."""


class DataError(Error, ValueError):
    """Data that does not mean what it should: shapes, NaN, contradictions."""


class IoError(Error, OSError):
    """A file that cannot be read or written, or is not of its format."""

    def __str__(self) -> str:  # OSError would show the arguments as a pair
        return str(self.args[0])


class DivergenceError(Error, ArithmeticError):
    """Training that cannot go on: NaN or Inf in loss or gradients."""


class StopTraining(Exception):
    """Raised in a callback of `train`: a checkpoint is written, and the run as it stands is returned."""
