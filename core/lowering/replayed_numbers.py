"""What a framework drew at random, drawn again: a constant; in a loop, the row of the iteration."""

from __future__ import annotations

import math

import numpy as np

from gradstep.core.lowering.foreign_graph import ForeignIterations
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.ops.build.builder import Tensor, call

_MOST = 1 << 24  # places in a table of iterations


def replayed(site: Site, output: int = 0) -> Tensor | None:
    """What output number `output` was when the framework ran, in the iteration that runs. None
    where that is not known. In an iteration that the framework did not come to, it is an error:
    what it would have drawn there nobody knows."""
    told = site.output(output)
    if told.value is not None:
        return site.constant(told.value)
    if told.iterations is None or not site.iterations:
        return None
    row = _row(site, told.iterations)
    happened = call("GreaterEqual", row, np.int32(0))
    with site.builder.control_dependencies([_asserted(site, happened)]):
        row = call("Identity", row)
    return call("GatherV2", site.constant(told.iterations.values), row, np.int32(0))


def _row(site: Site, known: ForeignIterations) -> Tensor:
    """Which time it is: -1 for an iteration that there was not."""
    rows = _table(known.places)
    last = np.array(rows.shape, np.int32) - 1
    numbers = [call("Cast", x, DstT="int32") for x in site.iterations]
    place = call("Minimum", call("Pack", *numbers), last)
    return call("GatherNd", site.constant(rows), place)


def _table(places: np.ndarray) -> np.ndarray:
    """int32, with an axis for each loop: the row of each iteration, and -1 for what was none of
    them, as all behind the last is. Raises UnloweredError where it would be large."""
    shape = tuple(int(size) + 2 for size in places.max(axis=0))
    if math.prod(shape) > _MOST:
        raise UnloweredError("too many iterations, to draw in each what was drawn in it")
    rows = np.full(shape, -1, np.int32)
    rows[tuple(places.T)] = np.arange(len(places), dtype=np.int32)
    return rows


def _asserted(site: Site, condition: Tensor) -> str:
    """The name of an Assert that fails where `condition` is false."""
    text = (
        f"{site.node.name} draws random numbers in an iteration that there was not when they were "
        "recorded"
    )
    name = site.builder.unique("Assert")
    site.builder.op("Assert", condition, np.array(text, object), name="Assert")
    return name
