"""Texts of kernels of single elements, compiled by g++ as plain functions over arrays."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gradstep.gpu.fusion.c_expressions import TYPES
from gradstep.gpu.fusion.kernel_text import KernelText

HAS_COMPILER = shutil.which("g++") is not None
_HEAD = """
#include <cmath>
#include <cstring>
#include <algorithm>
#define __device__ static
using namespace std;
static float __int_as_float(unsigned bits) { float x; memcpy(&x, &bits, 4); return x; }
"""


class CompiledElements:
    """texts: name -> the kernel's text, and the element types of what it takes and gives."""

    def __init__(
        self,
        folder: Path,
        texts: Mapping[str, tuple[KernelText, Sequence[np.dtype], Sequence[np.dtype]]],
    ) -> None:
        self._types = {name: (takes, gives) for name, (_, takes, gives) in texts.items()}
        source, library = folder / "elements.cpp", folder / "elements.so"
        parts = (_function(name, *each) for name, each in texts.items())
        source.write_text(_HEAD + "\n".join(parts), encoding="utf-8")
        words = ["g++", "-O0", "-std=c++17", "-ffp-contract=off", "-fPIC", "-shared"]
        subprocess.run([*words, str(source), "-o", str(library)], check=True)
        self._library = ctypes.CDLL(str(library))

    def __call__(
        self, name: str, *arrays: Any, out: Sequence[np.ndarray] | None = None
    ) -> Sequence[np.ndarray]:
        """What the kernel gives, with broadcasting; in `out`, where it is given."""
        takes, gives = self._types[name]
        same = np.broadcast_arrays(*arrays)
        given = [np.ascontiguousarray(x, dtype=t) for x, t in zip(same, takes, strict=True)]
        made = out or [np.empty(same[0].shape, dtype) for dtype in gives]
        pointers = [ctypes.c_void_p(x.ctypes.data) for x in (*given, *made)]
        self._library[name](ctypes.c_long(same[0].size), *pointers)
        return made


def _function(
    name: str, text: KernelText, takes: Sequence[np.dtype], gives: Sequence[np.dtype]
) -> str:
    kinds = [(f"p{n}", TYPES[t.name]) for n, t in enumerate(takes)]
    results = [(f"r{n}", TYPES[t.name]) for n, t in enumerate(gives)]
    listed = ", ".join(f"{kind}* {x}_" for x, kind in (*kinds, *results))
    inside = [f"const {kind}& {x} = {x}_[element];" for x, kind in kinds]  # as CuPy has it
    inside += [f"{kind}& {x} = {x}_[element];" for x, kind in results]
    loop = "for (long element = 0; element < elements; ++element) {"
    body = "\n".join((loop, *inside, *text.lines, "}"))
    tables = "\n".join(text.tables)
    signature = f'extern "C" void {name}(long elements, {listed})'
    return f"namespace of_{name} {{\n{tables}\n{signature} {{\n{body}\n}}\n}}"
