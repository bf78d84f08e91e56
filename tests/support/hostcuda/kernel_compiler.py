"""Compiles what CuPy writes for a card, by g++ for this processor."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.support.hostcuda.building import FOLDER, HERE, includes
from tests.support.hostcuda.nvidia_compiler import refusal

_FLAGS = ("-std=c++17", "-O0", "-fPIC", "-w", "-fpermissive", "-ffp-contract=off")
_KERNEL = re.compile(r'extern\s+"C"\s+__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)')
_SHARED = re.compile(r"extern\s+__shared__\s+([\w:<> ]+?)\s+(\w+)\[\];")
_WAITS = re.compile(r"__syncthreads|_REDUCE|__syncwarp|__shfl")
_WARPS = re.compile(r"__syncwarp|__shfl")
# One call goes through all elements, unless a thread asks for its place, or ends early.
_ONE_BY_ONE = re.compile(r"threadIdx|blockIdx|blockDim|gridDim|\breturn\s*;")
_HEADERS = "complex.cuh carray.cuh float16.cuh bfloat16.cuh atomics.cuh math_constants.h".split()


def compile_kernel(
    source: str,
    options: Iterable[str] = (),
    arch: Any = None,
    filename: str = "kern.cu",
    name_expressions: Iterable[str] | None = None,
    *_: Any,
    **__: Any,
) -> tuple[bytes, dict[str, str]]:
    """In place of cupy.cuda.compiler._compile_using_nvrtc_no_warning. Gives the path of a library
    (which cuModuleLoadData in device.cpp opens) for the machine code that NVRTC would give."""
    text, mapping = _for_host(source, name_expressions or ())
    defined = [option for option in options if option.startswith("-D")]
    prelude = _prelude()
    library = FOLDER / "kernels" / f"{_digest(text, defined)}.so"
    if not library.exists():
        if said := refusal(source, options):
            raise _refused(said, source, options)
        _compile(text, library, [*defined, f"-I{prelude.parent}"], source)
    return str(library).encode() + b"\0", mapping


def _for_host(source: str, expressions: Iterable[str]) -> tuple[str, dict[str, str]]:
    """The source as g++ takes it, with a function behind each kernel that the driver can call; and
    what instances of templates are called."""
    mode = 2 if _WAITS.search(source) else 1 if _ONE_BY_ONE.search(source) else 0
    instances = {e: f"hc_instance_{i}" for i, e in enumerate(expressions)}
    kernels = {name: name for name in _KERNEL.findall(source)} | {
        v: k for k, v in instances.items()
    }
    calls = [
        f'extern "C" void {name}__host(void** p) {{ hc_call({kernel}, p); }}'
        for name, kernel in kernels.items()
    ]
    body = _SHARED.sub(r"\1* \2 = (\1*)hc_shared;", source)
    more = [f'#include "{HERE / "warps.h"}"'] if _WARPS.search(source) else []
    parts = ['#include "all.h"', *more, body, f'extern "C" {{ int hc_mode = {mode}; }}', *calls, ""]
    return "\n".join(parts), instances


def _compile(text: str, library: Path, options: list[str], source: str) -> None:
    library.parent.mkdir(exist_ok=True)
    mine = library.with_suffix(f".{os.getpid()}")  # others may be at the same
    file = mine.with_name(mine.name + ".cpp")
    file.write_text(text, encoding="utf-8")
    linked = ["-shared", f"-L{FOLDER}", "-l:libcuda.so.1"]
    words = ["g++", *_FLAGS, *options, *includes(), str(file), *linked, "-o", str(mine)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    file.unlink()
    if done.returncode:
        raise _refused(done.stderr, source, options)
    mine.rename(library)


def _refused(said: str, source: str, options: Iterable[str]) -> Exception:
    from cupy.cuda.compiler import CompileException

    refused: Exception = CompileException(said[:3000], source, "kernel.cu", tuple(options))
    return refused


def _prelude() -> Path:
    """The header of all kernels, compiled once: CuPy's own are long."""
    folder = FOLDER / "prelude"
    header, compiled = folder / "all.h", folder / "all.h.gch"
    named = [f"#include <cupy/{name}>" for name in _HEADERS]
    text = "\n".join(["#pragma once", f'#include "{HERE / "kernel_prelude.h"}"', *named, ""])
    text += f"// {_digest((HERE / 'kernel_prelude.h').read_text(encoding='utf-8'), [])}\n"
    if not compiled.exists() or header.read_text(encoding="utf-8") != text:
        folder.mkdir(exist_ok=True)
        mine = folder / f"{os.getpid()}.h"  # others may read it at the same time
        mine.write_text(text, encoding="utf-8")
        mine.rename(header)
        mine = folder / f"{os.getpid()}.gch"
        made = ["g++", *_FLAGS, *includes(), "-x", "c++-header", str(header), "-o", str(mine)]
        subprocess.run(made, check=True)
        mine.rename(compiled)
    return header


def _digest(text: str, options: list[str]) -> str:
    prelude = (HERE / "kernel_prelude.h").read_text(encoding="utf-8")
    return hashlib.sha1(" ".join([prelude, text, *options]).encode()).hexdigest()
