"""Constants of one value larger than any memory: run as far as nothing has to be laid out."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.graph.splat_array import is_splat
from gradstep.core.host.tensor_statistics import summarize
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.feeds_and_initials import fit_initial
from gradstep.core.train.update_ops import Update

HUGE = np.broadcast_to(np.float32(2.5), (1 << 20, 1 << 20))


def graph() -> Graph:
    def constant(name: str, value: np.ndarray) -> Operation:
        return Operation(name, "Const", attrs={"value": Constant(value)})

    two, ends = np.int32([0, 0]), np.int32([2, 3])
    parts = ("huge", "begin", "size")
    return Graph.of(
        [
            constant("huge", HUGE),
            constant("begin", two),
            constant("size", ends),
            Operation("corner", "Slice", tuple(map(TensorRef, parts))),
            Operation("all", "Neg", (TensorRef("huge"),)),
        ]
    )


def test_a_part_of_it_takes_no_memory() -> None:
    tracemalloc.start()
    found = Session(graph(), NumpyBackend()).run([TensorRef("corner")], {})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(found[0], np.full((2, 3), 2.5, np.float32))
    assert peak < 16 << 20


def test_what_has_to_be_laid_out_is_refused_at_its_node() -> None:
    with pytest.raises(GradstepError, match="recording one run takes") as caught:
        Session(graph(), NumpyBackend()).run([TensorRef("all")], {})
    assert caught.value.kind == "ResourceExhaustedError"
    assert caught.value.node == "all"


@pytest.mark.parametrize("shape", [(1 << 62, 4), (1 << 32, 1 << 32), (1 << 64,)])
def test_sizes_over_a_c_long_are_too_large(shape: tuple[int, ...]) -> None:
    with pytest.raises(MemoryError):
        NumpyBackend().empty(shape, np.dtype(np.float32))


def test_statistics_are_those_of_one_element() -> None:
    found = summarize(HUGE)
    assert found is not None
    assert (found.minimum, found.maximum, found.mean) == (2.5, 2.5, 2.5)
    assert found.norm == 2.5 * 2.0**20
    assert found.zeros == found.nans == found.infs == 0
    few = np.broadcast_to(np.float32(np.nan), (50, 40))
    assert repr(summarize(few)) == repr(summarize(np.array(few)))  # NaN is like no other


BEYOND = (1 << 30, 1 << 30)  # elements; more bytes than can be addressed


def test_a_variable_that_cannot_be_held_says_what_it_takes() -> None:
    builder = GraphBuilder()
    builder.variable("w", "float32", BEYOND)
    value = np.broadcast_to(np.float32(2.5), BEYOND)
    assert not fit_initial(builder.build(), {"w": Constant(value)})[1]  # nothing is copied
    with pytest.raises(GradstepError, match=r"'w' takes 4398046511104 MiB") as caught:
        Session(builder.build(), initial={"w": value})
    assert (caught.value.kind, caught.value.node) == ("ResourceExhaustedError", "w")


def test_first_values_of_slots_take_no_memory() -> None:
    builder = GraphBuilder()
    builder.variable("w", "float32", BEYOND)
    update = Update(builder, {}, "Adam")
    name = update.slot("w", "m", 0.5).ref.op
    assert is_splat(update.initial[name])
    assert update.initial[name].shape == BEYOND
    builder.variable("v", "float32", (1 << 62, 4))
    with pytest.raises(GradstepError, match="there is no array of shape"):
        update.slot("v", "m")
