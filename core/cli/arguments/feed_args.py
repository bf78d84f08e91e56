"""What --feed gives: checked and converted."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

import numpy as np

from gradstep.core.cli.output.command_output import usage
from gradstep.core.data.array_files import Reading
from gradstep.core.data.value_text import read_value
from gradstep.core.engine.run.feed_values import fed_type, given_feeds, require_fed_shape
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, TensorType
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.io.disk.memory_budget import DEFAULT, Budget

_ANY = TensorType(DType.FLOAT32)  # of what nobody knows the type of


def read_feeds(graph: Graph, args: argparse.Namespace) -> Mapping[TensorRef, np.ndarray]:
    """What --feed gives, as the graph takes it. Raises GradstepError."""
    given: Mapping[str, Any] = dict(
        parse_feed(text, graph, args.memory, args.allow_nan) for text in getattr(args, "feed", ())
    )
    arrays = given_feeds(graph, given)
    if arrays and not args.allow_nan:
        _refuse_non_finite(arrays)
    return arrays


def parse_feed(
    text: str, graph: Graph, memory: int = DEFAULT, allow_nan: bool = False
) -> tuple[str, Any]:
    """`"x=[1, nan]"`, `"x=normal(0, 0.1)"` or `"x=@FILE.npy"` as a name and a value that NumPy can
    make an array of. memory: bytes that the value may take; allow_nan: whether cells of tables may
    be NaN. Raises GradstepError: UsageError for bad spelling, and what the value's place gives."""
    name, equals, value = text.partition("=")
    name = name.strip()
    if not equals or not name:
        raise usage(f"'{text}' is not NAME=VALUE", "write --feed x=[1,2]")
    try:
        ref = TensorRef.parse(name)
    except GradstepError:  # which the feed of it says in TensorFlow's words
        return name, read_value(value, _ANY, name, Reading(budget=Budget(memory)))
    kind = fed_type(graph, ref)

    def check(shape: tuple[int, ...]) -> None:
        require_fed_shape(ref, kind, shape)

    reading = Reading(budget=Budget(memory), check=check, allow_nan=allow_nan)
    return name, read_value(value, kind or _ANY, ref.op, reading)


def _refuse_non_finite(arrays: Mapping[TensorRef, np.ndarray]) -> None:
    """A NaN in a feed is nearly always a mistake upstream: say so before it spreads."""
    for ref, array in arrays.items():
        if kind_of(array.dtype) not in "fc":
            continue
        bad = np.argwhere(~np.isfinite(array))
        if len(bad):
            index = tuple(int(i) for i in bad[0])
            place = f" at index {list(index)}" if index else ""
            raise GradstepError(
                f"the value fed to '{ref.short}' is {array[index]}{place}",
                kind="ValueError",
                node=ref.op,
                index=index,
                hint="mend the value, or pass --allow-nan to run with it on purpose",
            )
