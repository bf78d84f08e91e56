"""The fast layout: the same bits as the record layout, with less memory and fewer steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradstep.core.engine.calls.split_calls import WORTH_SPLITTING
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Graph
from gradstep.core.io.native.gradstep_file import load
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.declare.ufunc import BLOCK
from gradstep.core.program.derive import derive
from gradstep.core.thread_pool import VARIABLE
from tests.examples.build import FOLDER, THREADED

EXAMPLES = sorted(p for p in Path(FOLDER).glob("*.gradstep") if p.stem not in THREADED)


def both(graph: Graph, **options: object) -> tuple[Session, Session]:
    return Session(graph, **options), Session(graph, fast=True, **options)  # type: ignore[arg-type]


def _bits(value: object) -> object:
    """What two equal values have in common: text is kept by reference."""
    array = np.array(value)
    return array.tolist() if array.dtype.hasobject else array.tobytes()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_examples_train_to_the_same_bits(path: Path) -> None:
    program = derive(load(path), trusted=True)
    feeds = dict(program.feeds)
    if path.stem.startswith("gather"):  # its point is an index that is not there
        feeds = {ref: np.clip(x, 0, 4) if ref.op == "indices" else x for ref, x in feeds.items()}
    options = {"initial": program.initial, "functions": program.functions}
    plain, fast = both(program.graph, **options)
    for _ in range(3):
        want = plain.values(program.fetches, feeds, program.targets)
        have = fast.values(program.fetches, feeds, program.targets)
        for ref, a, b in zip(program.fetches, want, have, strict=True):
            assert _bits(a) == _bits(b), ref
    for name in plain.store:
        assert plain.store[name].tobytes() == fast.store[name].tobytes(), name


def test_a_new_version_takes_the_place_of_the_old() -> None:
    b = GraphBuilder()
    b.one("AssignAdd", b.variable("n", shape=(3,)), [1.0, 2.0, 3.0], name="count")
    fast = Session(b.build(), initial={"n": np.zeros(3, np.float32)}, fast=True)
    memory = fast.store["n"]
    for _ in range(3):
        fast.run(["count"])
    assert fast.store["n"] is memory
    np.testing.assert_array_equal(memory, [3, 6, 9])


def test_what_was_read_before_an_update_is_not_overwritten() -> None:
    """A resource read is a snapshot, and is fetched after the update."""
    b = GraphBuilder()
    handle = b.one("VarHandleOp", name="v", dtype=DType.FLOAT32, shape=Shape.of(2))
    read = b.one("ReadVariableOp", handle, name="before", dtype=DType.FLOAT32)
    b.op("AssignAddVariableOp", handle, read * 2.0, name="add", dtype=DType.FLOAT32)
    start = {"v": np.array([1, 2], np.float32)}
    for session in both(b.build(), initial=start):
        (before,) = session.run(["before"], targets=["add"])
        np.testing.assert_array_equal(before, [1, 2])
        np.testing.assert_array_equal(session.store["v"], [3, 6])


def test_equal_work_is_done_once_and_constants_beforehand() -> None:
    b = GraphBuilder()
    x = b.placeholder("x", shape=(2,))
    two = b.constant(1.0) + b.constant(1.0)
    y = b.one("AddV2", b.one("Exp", x) * two, b.one("Exp", x), name="y")
    b.one("Sin", x, name="unused")
    fast = Session(b.build(), fast=True)
    (value,) = fast.run([y.ref], {"x": np.zeros(2, np.float32)})
    np.testing.assert_array_equal(value, [3, 3])
    (recording,) = fast.recordings
    types = [step.op.type for step in recording.plan.steps if step.op.type != "Const"]
    assert sorted(types) == ["AddV2", "Exp", "Mul"]


def test_a_chain_needs_the_memory_of_a_link() -> None:
    b = GraphBuilder()
    y = b.placeholder("x", shape=(1000,))
    for _ in range(50):
        y = b.one("Tanh", y)
    fast = Session(b.build(), fast=True)
    feed = {"x": np.linspace(-1, 1, 1000, dtype=np.float32)}
    (value,) = fast.run([y.ref], feed)
    (plain,) = Session(b.build()).run([y.ref], feed)
    assert value.tobytes() == plain.tobytes()
    (recording,) = fast.recordings
    assert recording.layout.size <= 2 * 4096


def test_a_variable_without_a_value_fails_as_ever_and_can_be_initialised() -> None:
    b = GraphBuilder()
    n = b.variable("n", shape=())
    b.one("Assign", n, 5.0, name="init")
    b.one("AssignAdd", n, 1.0, name="count")
    fast = Session(b.build(), fast=True)
    with pytest.raises(Exception, match="uninitialized value n"):
        fast.run(["count"])
    fast.run([], targets=["init"])
    fast.run(["count"])
    assert fast.run(["count"])[0] == 7


@pytest.mark.parametrize("size", [1 << 16, (1 << 16) + 1, 100_000])
def test_large_elementwise_chains_go_block_by_block_to_the_same_bits(size: int) -> None:
    """Forward and backward; some values are fetched from the middle of a block's work."""
    from gradstep.core.autodiff.reverse.tf_gradients import gradients

    b = GraphBuilder()
    x, w = (b.placeholder(n, shape=(size,)) for n in "xw")
    a = x * w
    c = b.one("Relu", a + x)
    d = b.one("Tanh", c * 3.0 - w)
    y = d * d + a
    (g,) = gradients(y, [x])
    random = np.random.default_rng(3)
    feeds = {n: random.normal(size=size).astype(np.float32) for n in "xw"}
    fetches = [t.ref for t in (y, c, g)]
    plain, fast = both(b.build())
    for _ in range(2):
        for want, have in zip(plain.run(fetches, feeds), fast.run(fetches, feeds), strict=True):
            assert want.tobytes() == have.tobytes()
    (recording,) = fast.recordings
    assert recording.plan.blocked
    (record,) = plain.recordings
    assert recording.layout.size < record.layout.size / 2


def test_blocks_of_another_thread_need_as_little_memory_as_one_threads_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is not needed any more is written over there, too: a block of each value of a long
    chain would not fit in a cache."""
    monkeypatch.setenv(VARIABLE, "3")
    made = []

    class Counting(NumpyBackend):
        def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> Any:
            made.append(int(np.prod(shape)) * dtype.itemsize)
            return super().empty(shape, dtype)

    b = GraphBuilder()
    x = y = b.placeholder("x", shape=(10 * WORTH_SPLITTING,))
    for number in range(40):
        y = b.one(("Tanh", "Relu")[number % 2], y * 1.5 + x)
    feeds = {"x": np.linspace(-1, 1, 10 * WORTH_SPLITTING, dtype=np.float32)}
    fast = Session(b.build(), fast=True, backend=Counting())
    (found,) = fast.run([y.ref], feeds)
    blocks = [size for size in made if size <= 8 * BLOCK * 4]
    assert 2 <= len(blocks) <= 6  # of two threads besides this one; of 120 values
    monkeypatch.setenv(VARIABLE, "1")
    (alone,) = Session(b.build(), fast=True).run([y.ref], feeds)
    assert found.tobytes() == alone.tobytes()


def test_random_numbers_go_on_where_they_were() -> None:
    b = GraphBuilder()
    y = b.one("RandomUniform", np.array([3], np.int32), dtype=DType.FLOAT32, seed=1, seed2=2)
    drawn = [[s.run([y.ref])[0].tolist() for _ in range(3)] for s in both(b.build())]
    assert drawn[0] == drawn[1]
    assert drawn[0][0] != drawn[0][1]


def test_a_plan_that_cannot_be_fast_is_made_once() -> None:
    """A variable of unknown shape has no place of its own; the record layout serves, and stays."""
    b = GraphBuilder()
    b.one("AssignAdd", b.variable("n", shape=None), 1.0, name="count")
    session = Session(b.build(), initial={"n": np.zeros(3, np.float32)}, fast=True)
    session.run(["count"])
    (first,) = session.recordings
    np.testing.assert_array_equal(session.run(["count"])[0], [2, 2, 2])
    assert session.recordings == [first]
