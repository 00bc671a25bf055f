"""The program `locus` that comes with the package."""
import os
import sys
from typing import NoReturn

PACKAGE = os.path.dirname(os.path.abspath(__file__))
BINARY = os.path.join(PACKAGE, "bin", "locus")
SHARE = os.path.join(PACKAGE, "share", "locus")  # where the program looks, too


def main() -> NoReturn:
    """What the command `locus` of the environment runs."""
    os.execv(BINARY, ["locus", *sys.argv[1:]])


def config_file(path: str) -> str:
    """The path itself, or the configuration of that name that comes with the package: "configs/lst/default.toml"."""
    if path and not os.path.exists(path):
        shipped = os.path.join(SHARE, path)
        if os.path.exists(shipped):
            return shipped
    return path
