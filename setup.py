"""Builds the Python package with CMake: the module locus._locus, the program itself, and the configurations that come with it.

LOCUS_BUILD_DIR: the build folder (default build/python). CMAKE_BUILD_PARALLEL_LEVEL: how many files are compiled at once.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent


def version() -> str:
    return re.search(r"project\(locus VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]


class CMakeBuild(build_ext):
    """Configures, builds and copies what belongs into the package."""

    def build_extension(self, ext: Extension) -> None:
        build = Path(os.environ.get("LOCUS_BUILD_DIR", ROOT / "build" / "python")).resolve()
        generator = ["-G", "Ninja"] if shutil.which("ninja") and not (build / "CMakeCache.txt").exists() else []
        subprocess.run(["cmake", "-S", str(ROOT), "-B", str(build), *generator, "-DCMAKE_BUILD_TYPE=Release",
                        "-DLOCUS_PYTHON=ON", "-DLOCUS_TESTS=OFF", f"-DPython_EXECUTABLE={sys.executable}"], check=True)
        parallel = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count() or 1))
        subprocess.run(["cmake", "--build", str(build), "--parallel", parallel, "--target", "_locus", "locus"], check=True)
        package = Path(self.get_ext_fullpath(ext.name)).resolve().parent
        package.mkdir(parents=True, exist_ok=True)
        for module in (build / "python").glob("_locus*.so"):
            shutil.copy2(module, self.get_ext_fullpath(ext.name))
        (package / "bin").mkdir(exist_ok=True)
        shutil.copy2(build / "locus", package / "bin" / "locus")
        shutil.copytree(ROOT / "configs", package / "share" / "configs", dirs_exist_ok=True)


setup(
    version=version(),
    packages=["locus"],
    package_dir={"": "python"},
    package_data={"locus": ["py.typed"]},
    ext_modules=[Extension("locus._locus", sources=[])],
    cmdclass={"build_ext": CMakeBuild},
    zip_safe=False,
)
