"""Builds the Python package with CMake: the module locus._locus, the program itself, and the configurations that come with it.

LOCUS_BUILD_DIR: the build folder (default build/python). CMAKE_BUILD_PARALLEL_LEVEL: how many files are compiled at once.
CMAKE_ARGS: further options of CMake. A compiler cache (ccache) is used where there is one.
"""
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
NOT_PACKAGED = {"bench_peer", "make_golden", "train_lst"}  # tools of the project


def version() -> str:
    return re.search(r"project\(locus VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]


def pybind11_option() -> list:
    """Where a pybind11 that pip installed keeps its files for CMake; Debian's is found without."""
    if importlib.util.find_spec("pybind11") is None:
        return []
    import pybind11
    return [f"-Dpybind11_DIR={pybind11.get_cmake_dir()}"]


class Modules(build_py):
    """What users import."""

    def find_package_modules(self, package: str, package_dir: str) -> list:
        return [found for found in super().find_package_modules(package, package_dir) if found[1] not in NOT_PACKAGED]


class CMakeBuild(build_ext):
    """Configures, builds and copies what belongs into the package."""

    def build_extension(self, ext: Extension) -> None:
        build = Path(os.environ.get("LOCUS_BUILD_DIR", ROOT / "build" / "python")).resolve()
        generator = ["-G", "Ninja"] if shutil.which("ninja") and not (build / "CMakeCache.txt").exists() else []
        subprocess.run(["cmake", "-S", str(ROOT), "-B", str(build), *generator, "-DCMAKE_BUILD_TYPE=Release",
                        "-DLOCUS_PYTHON=ON", "-DLOCUS_TESTS=OFF", f"-DPython_EXECUTABLE={sys.executable}", *pybind11_option(),
                        *shlex.split(os.environ.get("CMAKE_ARGS", ""))], check=True)
        parallel = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", str(len(os.sched_getaffinity(0))))
        subprocess.run(["cmake", "--build", str(build), "--parallel", parallel, "--target", "_locus", "locus"], check=True)
        package = Path(self.get_ext_fullpath(ext.name)).resolve().parent
        package.mkdir(parents=True, exist_ok=True)
        for module in (build / "python").glob("_locus*.so"):
            shutil.copy2(module, self.get_ext_fullpath(ext.name))
        (package / "bin").mkdir(exist_ok=True)
        shutil.copy2(build / "locus", package / "bin" / "locus")
        shutil.rmtree(package / "share", ignore_errors=True)  # of an earlier build
        shutil.copytree(ROOT / "configs", package / "share" / "locus" / "configs")


setup(
    version=version(),
    packages=["locus"],
    package_dir={"": "python"},
    package_data={"locus": ["py.typed", "*.pyi"]},
    ext_modules=[Extension("locus._locus", sources=[])],
    cmdclass={"build_ext": CMakeBuild, "build_py": Modules},
    zip_safe=False,
)
