"""The optional libraries: whether they are there, and how to get them. Imported when first used."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.installation import extra_command


@dataclass(frozen=True)
class Library:
    """package: what to install; open: gives what its kernels call, or raises ImportError or
    OSError."""

    name: str
    package: str
    open: Callable[[], Any]

    @property
    def version(self) -> str | None:
        """Of the package, which this does not import; None where it is not installed."""
        from importlib import metadata  # it brings half of email with it

        try:
            return metadata.version(self.package)
        except metadata.PackageNotFoundError:
            return None

    def load(self) -> Any:
        """What kernels call. Raises GradstepError where the library is missing or broken."""
        if self.version is None:
            raise self._unusable("is not installed")
        try:
            return _opened(self)
        except (ImportError, OSError, AttributeError) as error:
            raise self._unusable(f"does not load: {error}") from error

    def _unusable(self, why: str) -> GradstepError:
        return GradstepError(f"{self.name} {why}", kind="UnavailableError", hint=self.how_to_get)

    @property
    def how_to_get(self) -> str:
        return (
            f"{extra_command('kernels')} installs it, or any way to get the package {self.package}"
        )


@cache
def _opened(library: Library) -> Any:
    return library.open()


def _scipy() -> Any:
    """The compiled loops under scipy.sparse. Its matrix classes check and copy more than the sums
    themselves take."""
    loops = importlib.import_module("scipy.sparse._sparsetools")
    _ = loops.csc_matvecs  # AttributeError: another version has another inside
    return loops


def _onednn() -> Any:
    """The shared library, which is all that the wheel has; it lies in the environment's lib."""
    from importlib import metadata

    files = metadata.files("onednn-cpu-gomp") or ()
    for file in files:
        if file.name.startswith(("libdnnl.so.3", "libdnnl.3", "dnnl.dll")):
            return ctypes.CDLL(str(file.locate()))
    raise ImportError("the package has no version 3 of the library")


def _numba() -> Any:
    return importlib.import_module("numba")


SCIPY = Library("SciPy", "scipy", _scipy)
ONEDNN = Library("oneDNN", "onednn-cpu-gomp", _onednn)
NUMBA = Library("numba", "numba", _numba)
LIBRARIES = (SCIPY, ONEDNN, NUMBA)
