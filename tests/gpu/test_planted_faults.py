"""A fault planted in one kernel is named first, and where none is planted nothing is named."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.graph.loop import within
from gradstep.core.io.open_document import read
from gradstep.core.ops.declare.table import lookup
from gradstep.core.program.derive import derive
from gradstep.core.protocol.messages import Comparison
from gradstep.gpu.compare import compare
from tests.support.faulty import FaultyBackend

EXAMPLES = Path(__file__).parents[2] / "assets" / "examples"
NAMES = ("tutorial", "focal_loss", "batch_norm_updates", "softmax_by_hand")
IN_EACH = 4  # of all, on ten examples, 94 were planted and 94 named first


def off(result: np.ndarray) -> np.ndarray:
    """Three in a thousand too large: within nobody's tolerance."""
    if result.dtype.kind != "f":
        return result
    return (result * np.float64(1.003)).astype(result.dtype)


@cache
def program(name: str) -> Program:
    return derive(read(EXAMPLES / f"{name}.gradstep"), trusted=True)


@cache
def sound(name: str) -> Comparison:
    return compare(program(name), NumpyBackend(), NumpyBackend())


def planted(name: str) -> Iterator[str]:
    """Types of operations of the example whose results a fault changes; the same every time."""
    found = {}
    for row in sound(name).nodes:
        definition = lookup(row.type, row.name)
        counts = row.left.dtype.startswith("float") and any(row.left.values)
        if definition.inputs and counts and row.type != "While":
            found[row.type] = None
    types = list(found)
    random.Random(7).shuffle(types)
    yield from types[:IN_EACH]


@pytest.mark.parametrize("name", NAMES)
def test_where_nothing_is_planted_nothing_is_named(name: str) -> None:
    assert sound(name).first_divergence is None
    assert sound(name).sentences[0] == "No node makes a difference."


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_planted_fault_is_named_first_and_its_kind_is_said(name: str) -> None:
    graph = program(name).graph
    for type_ in planted(name):
        found = compare(program(name), NumpyBackend(), FaultyBackend({type_: off}))
        assert found.first_divergence is not None, type_
        guilty = graph[found.first_divergence]
        assert type_ in {op.type for op in within([guilty])}
        assert found.sentences[0].startswith(
            f"Neither rounding nor a known rule. First divergence: {guilty.name} ({guilty.type})"
        )
        makers = {row.type for row in found.nodes if row.creates}
        assert makers == {type_}
