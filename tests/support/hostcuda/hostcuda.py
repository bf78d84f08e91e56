"""CuPy's own wheel on a machine without a GPU: its Python and Cython as they are, its kernels
compiled by g++, this processor as its device (docs/gpu.md says what that proves)."""

from __future__ import annotations

import ctypes
import importlib.machinery
import importlib.util
import os
import sys
from typing import Any

from tests.support.hostcuda.building import FOLDER
from tests.support.hostcuda.hosted_functions import host_functions
from tests.support.hostcuda.kernel_compiler import compile_kernel

_RUNTIME = "cupy_backends.cuda.api.runtime"
_COUNTED = {"launches": "hc_launches", "waits": "hc_waits", "copies": "hc_copies"}


def install() -> Any:
    """The module `cupy`, which must not have been imported before. Raises RuntimeError where what
    it runs on is not built."""
    if not (FOLDER / "built.txt").exists():
        raise RuntimeError("there is no device to run on: ./dev gpu --host builds it")
    os.environ |= {"CUPY_ACCELERATORS": "", "CUPY_CACHE_IN_MEMORY": "1"}
    _find_libraries(_driver())
    ctypes.CDLL(str(FOLDER / "libcublas.so.13"), mode=ctypes.RTLD_GLOBAL)
    _load_runtime()
    import cupy
    from cupy.cuda import compiler

    compiler._get_nvrtc_version = lambda: (13, 0)
    compiler._preprocess = lambda *_, **__: ""
    compiler._compile_using_nvrtc_no_warning = compile_kernel
    host_functions(cupy)
    return cupy


def counters() -> dict[str, int]:
    """How often so far kernels were launched, the host waited and memory was copied."""
    library = _driver()
    return {name: ctypes.c_long.in_dll(library, of).value for name, of in _COUNTED.items()}


def _driver() -> ctypes.CDLL:
    return ctypes.CDLL(str(FOLDER / "libcuda.so.1"), mode=ctypes.RTLD_GLOBAL)


def _find_libraries(driver: ctypes.CDLL) -> None:
    """Have CuPy's search for CUDA's libraries find ours."""
    from cuda import pathfinder

    real = pathfinder.load_nvidia_dynamic_lib

    class Loaded:
        def __init__(self, handle: int) -> None:
            self._handle_uint, self.abs_path = handle, "this processor"

    def load(name: str, *args: Any, **named: Any) -> Any:
        if name in ("cudart", "cublas"):
            return Loaded(driver._handle if name == "cudart" else 1)
        return real(name, *args, **named)

    pathfinder.load_nvidia_dynamic_lib = load


def _load_runtime() -> None:
    import cupy_backends.cuda.api as api

    path = str(FOLDER / "runtime.so")
    loader = importlib.machinery.ExtensionFileLoader(_RUNTIME, path)
    spec = importlib.util.spec_from_file_location(_RUNTIME, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[_RUNTIME] = module
    loader.exec_module(module)
    api.runtime = module
