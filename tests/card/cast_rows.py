"""Casts between every two element types, of numbers that the other one has no room for."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.card.libraries import open_library, tried

TYPES = (
    "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64"
).split()
_FRACTIONS = np.array(
    (
        "nan inf -inf 0 -0.0 0.5 -0.5 1.5 -1.5 2.5 1e-40 6e-8 127.5 128 -128.5 -129 255.5 256 300 "
        "32768 -32769 65504 65536 70000 2147483647 2147483648 -2147483648 -2147483649 4294967296 "
        "1e10 -1e10 9007199254740993 9223372036854775808 -9223372036854775808 18446744073709551616 "
        "1e30 -1e30 1e39 1e300"
    ).split(),
    np.float64,
)
_INTEGERS = [0, 1, -1, 127, 128, -129, 255, 256, 32768, 65536, 2**24 + 1, 2**31 - 1, 2**31, 2**32]
_INTEGERS += [-(2**31), 2**53 + 1, 2**63 - 1, -(2**63)]


def numbers(kind: str) -> np.ndarray:
    """What is cast, in the type that it is cast from."""
    dtype = np.dtype(kind)
    with np.errstate(all="ignore"):
        if dtype.kind in "fc":
            return _FRACTIONS.astype(dtype)
        return np.array(_INTEGERS, np.int64).astype(dtype)


def try_one(device: str, task: str) -> dict[str, Any]:
    """task: "cast|LIBRARY|FROM". The results by what is cast to."""
    _, name, kind = task.split("|")
    try:
        library = open_library(name, device)
    except (ImportError, RuntimeError) as error:
        return {"absent": str(error)[:160]}
    found: dict[str, Any] = {}
    for to in TYPES:

        def run(to: str = to) -> Any:
            x = library.put(numbers(kind))
            return x.to(getattr(library.xp, to)) if name == "torch" else x.astype(to)

        with np.errstate(all="ignore"):
            found[to] = tried(library, run)
        if "lost" in found[to]:
            return {"rows": found, "lost": found[to]["lost"]}
    return {"rows": found}
