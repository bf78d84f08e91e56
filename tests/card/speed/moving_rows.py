"""Operations that move elements: transposed, joined, gathered, scattered, sorted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradstep.core.ops import api as tf
from tests.bench.small_sizes import sized
from tests.card.speed.op_row import (
    SIDE,
    SQUARE,
    SQUARE_BYTES,
    Arrays,
    OpRow,
    Peer,
    numbers,
    of_square,
    signed,
)

TABLE, WIDTH, TAKEN = sized(50_000, 20), sized(64, 4), sized(1 << 18, 32)
_ROWS = f"{TAKEN:,} rows of {WIDTH}, {TABLE:,} in all"
_HEAD = 10


def _places() -> np.ndarray:
    return np.random.default_rng(2).integers(0, TABLE, TAKEN).astype(np.int32)


def _gather_arrays() -> Arrays:
    return {"table": signed("table", TABLE, WIDTH), "places": _places()}


def _gather(torch: Any, t: Mapping[str, Any]) -> Peer:
    places = t["places"].long()
    return lambda: t["table"].index_select(0, places)


def _segment_arrays() -> Arrays:
    return {"x": numbers("x", TAKEN, WIDTH), "places": _places()}


def _segments(torch: Any, t: Mapping[str, Any]) -> Peer:
    places = t["places"].long()
    like = t["x"].new_zeros
    return lambda: like((TABLE, WIDTH)).index_add_(0, places, t["x"])


MOVING_ROWS = (
    OpRow(
        "Transpose",
        SQUARE,
        lambda: {"x": signed("x", SIDE, SIDE)},
        lambda build, t: build.op("Transpose", t["x"], build.constant(np.array([1, 0], np.int32))),
        lambda torch, t: lambda: t["x"].T.contiguous(),
        nbytes=2 * SQUARE_BYTES,
    ),
    OpRow(
        "ConcatV2 along 1",
        f"2 of {SQUARE}",
        lambda: {"a": signed("a", SIDE, SIDE), "b": signed("b", SIDE, SIDE)},
        lambda build, t: [tf.concat([t["a"], t["b"]], 1)],
        lambda torch, t: lambda: torch.cat([t["a"], t["b"]], 1),
        nbytes=4 * SQUARE_BYTES,
    ),
    OpRow(
        "Pad",
        f"{SQUARE}, 1 on each side",
        lambda: {"x": signed("x", SIDE, SIDE)},
        lambda build, t: [tf.pad(t["x"], [[1, 1], [1, 1]])],
        lambda torch, t: lambda: torch.nn.functional.pad(t["x"], (1, 1, 1, 1)),
        nbytes=2 * SQUARE_BYTES,
    ),
    OpRow(
        "GatherV2",
        _ROWS,
        _gather_arrays,
        lambda build, t: [tf.gather(t["table"], t["places"])],
        _gather,
        nbytes=8.0 * TAKEN * WIDTH,
    ),
    OpRow(
        "UnsortedSegmentSum",
        _ROWS,
        _segment_arrays,
        lambda build, t: build.op(
            "UnsortedSegmentSum", t["x"], t["places"], build.constant(np.int32(TABLE))
        ),
        _segments,
        nbytes=4.0 * (TAKEN + TABLE) * WIDTH,
    ),
    of_square(
        "Cumsum along 1",
        lambda build, x: build.op("Cumsum", x, build.constant(np.int32(1))),
        lambda torch, x: x.cumsum(1),
        nbytes=2 * SQUARE_BYTES,
        tolerance=1e-4,
        reduces=True,
    ),
    of_square(
        f"TopKV2, {_HEAD}",
        lambda build, x: build.op("TopKV2", x, build.constant(np.int32(_HEAD)))[:1],
        lambda torch, x: x.topk(_HEAD, 1)[0],
    ),
)
