"""A row of the table of operations: what it computes on, ours, and PyTorch's function for it."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.bench.small_sizes import sized

SIDE = sized(4096, 32)
SQUARE = f"{SIDE}×{SIDE}"
SQUARE_BYTES = 4.0 * SIDE * SIDE
_DRAWN = 1_048_573  # numbers that are drawn; they come again and again, at other places in a row
Arrays = dict[str, np.ndarray]
Peer = Callable[[], Any]


def _same(tensor: Any) -> Any:
    return tensor


@dataclass(frozen=True)
class OpRow:
    """name: the op type, and what distinguishes it from others of that type. size: of what, in
    words. ours: adds the operation to a graph and tells its results; variables: which of the arrays
    are. torch: is given PyTorch and the arrays as tensors, and prepares its function; back: a
    result of it as ours lies in memory. flop: operations on numbers that it takes; nbytes: what has
    to be read and written at least. tolerance: of results, relative to their largest element.
    reduces: whether CUB does it for CuPy, where it may."""

    name: str
    size: str
    arrays: Callable[[], Arrays]
    ours: Callable[[GraphBuilder, Mapping[str, Tensor]], Sequence[Tensor]]
    torch: Callable[[Any, Mapping[str, Any]], Peer]
    back: Callable[[Any], Any] = _same
    variables: tuple[str, ...] = ()
    flop: float = 0.0
    nbytes: float = 0.0
    tolerance: float = 1e-5
    reduces: bool = False


def of_square(
    name: str,
    ours: Callable[[GraphBuilder, Tensor], Sequence[Tensor]],
    torch: Callable[[Any, Any], Any],
    nbytes: float = SQUARE_BYTES,
    **more: Any,
) -> OpRow:
    """Of one matrix of numbers that are drawn."""
    return OpRow(
        name,
        SQUARE,
        lambda: {"x": numbers("x", SIDE, SIDE)},
        lambda build, t: ours(build, t["x"]),
        lambda library, t: lambda: torch(library, t["x"]),
        nbytes=nbytes,
        **more,
    )


def numbers(name: str, *shape: int) -> np.ndarray:
    """Between 0.1 and 1, the same ones for a name: sums of many lose few digits."""
    random = np.random.default_rng(zlib.crc32(name.encode()))
    count = int(np.prod(shape))
    some = random.random(min(count, _DRAWN), np.float32) * np.float32(0.9) + np.float32(0.1)
    return np.resize(some, shape)


def signed(name: str, *shape: int) -> np.ndarray:
    """Between -1 and 1."""
    found = numbers(name, *shape)
    found -= np.float32(0.55)
    found *= np.float32(2 / 0.9)
    return found
