"""NVIDIA's own compiler asked whether it takes a kernel of ours: it needs no card for that.

CuPy's kernels it takes; what a card is to run of our writing is in another language than g++ reads,
alike as they look.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from functools import cache

from tests.support.hostcuda.building import includes, site_packages

OURS = "gradstep_"  # what the names of such kernels begin with
_FOR = ("--gpu-architecture=sm_90", "-ftz=true", "-w")


def refusal(source: str, options: Iterable[str]) -> str:
    """What it says against the source; "" where it takes it, where that is none of ours, and where
    the compiler is not installed."""
    library = _library()
    if library is None or OURS not in source:
        return ""
    words = [*options, *_FOR, *(word for word in includes() if "hostcuda/headers" not in word)]
    program = ctypes.c_void_p()
    library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None)
    given = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
    failed = library.nvrtcCompileProgram(program, len(words), given)
    said = _log(library, program) if failed else ""
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return said


def _log(library: ctypes.CDLL, program: ctypes.c_void_p) -> str:
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, text)
    return text.value.decode(errors="replace").strip() or "NVRTC gives no reason"


@cache
def _library() -> ctypes.CDLL | None:
    found: Sequence[object] = sorted(site_packages().glob("nvidia/cu13/lib/libnvrtc.so.*"))
    return ctypes.CDLL(str(found[0])) if found else None
