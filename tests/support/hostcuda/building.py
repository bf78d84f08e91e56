"""Makes what stands in a card's place: a driver, a runtime module of CuPy's and cuBLAS, once.

CuPy's wheel has the CUDA runtime inside, so that one module of it (runtime.pyx, of the same
version's sources, as they are) is compiled again with ours outside. All else of the wheel is used
as it is.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

from tests.support.unpacking import unpack

HERE = Path(__file__).parent
FOLDER = Path(sys.prefix) / "hostcuda"  # of the environment that has CuPy in it
CUPY = "14.2.0"
_SOURCES = ("device.cpp", "blas.cpp", "building.py", "runtime_module.py")
_BACKEND = "cupy_backends/cuda"


class NotBuiltError(Exception):
    """Why it cannot be built here."""


def build() -> None:
    """Build what is not built yet, or of other sources. Raises NotBuiltError."""
    stamp, text = FOLDER / "built.txt", _fingerprint()
    if stamp.exists() and stamp.read_text(encoding="utf-8") == text:
        return
    if shutil.which("g++") is None:
        raise NotBuiltError("there is no g++")
    FOLDER.mkdir(exist_ok=True)
    sys.stderr.write("gpu: building a device that is this processor\n")
    source = _cupy_source()
    _compile_driver()
    _compile_runtime(source)
    _compile_blas()
    stamp.write_text(text, encoding="utf-8")


def includes() -> list[str]:
    """-I for CUDA's and CuPy's headers, as g++ takes them."""
    packages = site_packages()
    cupy = packages / "cupy/_core/include"
    inside = [cupy / "cupy/_cccl" / name for name in ("libcudacxx", "cub", "thrust")]
    return [f"-I{p}" for p in (HERE / "headers", packages / "nvidia/cu13/include", cupy, *inside)]


def site_packages() -> Path:
    return Path(sysconfig.get_paths()["purelib"])


def _fingerprint() -> str:
    texts = b"".join((HERE / name).read_bytes() for name in _SOURCES)
    return f"{CUPY} {sys.version_info[:2]} {hashlib.sha256(texts).hexdigest()}\n"


def _cupy_source() -> Path:
    """CuPy's sources, unpacked. Without the variable pip would want a CUDA to build them with."""
    folder = FOLDER / f"cupy-{CUPY}"
    if not folder.exists():
        words = "-m pip download --quiet --no-deps --no-build-isolation --no-binary :all:".split()
        given = [sys.executable, *words, "--dest", str(FOLDER), f"cupy=={CUPY}"]
        _do(given, CUPY_INSTALL_USE_STUB="1")
        with tarfile.open(FOLDER / f"cupy-{CUPY}.tar.gz") as archive:
            unpack(archive, FOLDER)
    return folder


def _compile_driver() -> None:
    _gcc("-O1", "-shared", "-Wl,-soname,libcuda.so.1", HERE / "device.cpp", "-o",
         FOLDER / "libcuda.so.1", "-ldl")  # fmt: skip


def _compile_runtime(source: Path) -> None:
    """The module of CuPy's that calls the runtime. What of it nothing here needs fails, by name."""
    _do([sys.executable, str(HERE / "runtime_module.py")], cwd=source)
    made, object_ = source / _BACKEND / "api/runtime.cpp", FOLDER / "runtime.o"
    python = sysconfig.get_paths()["include"]
    _gcc("-O0", "-c", f"-I{python}", f"-I{source}", f"-I{made.parent}", made, "-o", object_)
    stubs = _stubs(_wanted(object_, "cuda") - _defined(FOLDER / "libcuda.so.1"))
    _gcc("-shared", object_, stubs, "-o", FOLDER / "runtime.so", f"-L{FOLDER}",
         "-l:libcuda.so.1", "-Wl,-rpath,$ORIGIN")  # fmt: skip


def _compile_blas() -> None:
    object_, names = FOLDER / "blas.o", FOLDER / "blas.map"
    _gcc("-O1", "-c", HERE / "blas.cpp", "-o", object_)
    (wheels,) = site_packages().glob(f"{_BACKEND}/libs/cublas*.so")
    stubs = _stubs(_wanted(wheels, "cublas") - _defined(object_))
    names.write_text("libcublas.so.13 { global: cublas*; };\n", encoding="utf-8")
    _gcc("-shared", object_, stubs, "-Wl,-soname,libcublas.so.13",
         f"-Wl,--version-script={names}", "-o", FOLDER / "libcublas.so.13")  # fmt: skip


def _stubs(names: set[str]) -> Path:
    """A source of functions that say that they are not there."""
    path = FOLDER / "stubs.cpp"
    lines = [
        f'extern "C" int {name}() {{ fprintf(stderr, "hostcuda: no {name}\\n"); return 801; }}'
        for name in sorted(names)
    ]
    path.write_text("\n".join(["#include <cstdio>", *lines, ""]), encoding="utf-8")
    return path


def _wanted(library: Path, prefix: str) -> set[str]:
    """The functions that it calls and does not have."""
    return {name for name in _names(library, "--undefined-only") if name.startswith(prefix)}


def _defined(library: Path) -> set[str]:
    return _names(library, "--defined-only")


def _names(library: Path, which: str) -> set[str]:
    table = ("-D",) if ".so" in library.name else ()
    told = _do(["nm", *table, which, str(library)])
    return {line.split()[-1].partition("@")[0] for line in told.splitlines() if line.strip()}


def _gcc(*words: str | Path) -> None:
    numpy = site_packages() / "numpy/_core/include"
    _do(["g++", "-fPIC", "-w", *includes(), f"-I{numpy}", *map(str, words)])


def _do(command: list[str], cwd: Path | None = None, **environment: str) -> str:
    given = {**os.environ, **environment}
    done = subprocess.run(command, cwd=cwd, env=given, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
        raise NotBuiltError(f"{Path(command[0]).name}: {lines[-1].strip()}")
    return done.stdout
