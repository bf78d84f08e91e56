"""What --feed gives: checked and converted."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from gradstep.core.cli.arguments.value_args import parse_feed
from gradstep.core.engine.run.feed_values import feed_arrays
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Graph, TensorRef


def read_feeds(graph: Graph, args: argparse.Namespace) -> Mapping[TensorRef, np.ndarray]:
    """What --feed gives, as the graph takes it. Raises GradstepError."""
    given: Mapping[str, Any] = dict(
        parse_feed(text, args.memory) for text in getattr(args, "feed", ())
    )
    arrays = feed_arrays(graph, given)
    if arrays and not args.allow_nan:
        _refuse_non_finite(arrays)
    _say_what_is_cut_off(given, arrays)
    return arrays


def _say_what_is_cut_off(given: Mapping[str, Any], arrays: Mapping[TensorRef, np.ndarray]) -> None:
    """TensorFlow makes whole numbers of fractions without a word; so do we, but with one."""
    for name, value in given.items():
        array, exact = arrays[TensorRef.parse(name)], np.asarray(value)
        if array.dtype.kind not in "iu" or exact.dtype.kind != "f":
            continue
        cut = np.argwhere(exact != array)
        if len(cut):
            first = tuple(int(i) for i in cut[0])
            print(
                f"warning: '{name}' holds {array.dtype}, so {exact[first]} is fed as "
                f"{array[first]}; round it yourself, or make the placeholder float32",
                file=sys.stderr,
            )


def _refuse_non_finite(arrays: Mapping[TensorRef, np.ndarray]) -> None:
    """A NaN in a feed is nearly always a mistake upstream: say so before it spreads."""
    for ref, array in arrays.items():
        if array.dtype.kind not in "fc":
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
