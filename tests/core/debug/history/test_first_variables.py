"""The variables before run 0, after edits: what cannot be otherwise is not made again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradstep.core.debug.history import first_variables as module
from gradstep.core.debug.history.first_variables import FirstVariables
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.init_run import init_run
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.graph.carry_over import continue_graph
from gradstep.core.graph.model import Constant, Graph, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder

BACKEND = NumpyBackend()


def _program(init: str = "init") -> Program:
    """Of a variable that an operation initializes, one that the document does, and one beside."""
    build = GraphBuilder()
    v, _ = (build.variable(name, shape=(2,)) for name in ("v", "w"))
    start = build.constant(np.ones(2, np.float32), name="start")
    first = build.one("Assign", v, start, name="first")
    build.op("NoOp", name="init", control_inputs=[first.ref.op])
    build.constant(1.0, name="beside")
    graph = build.build()
    initial = {"w": np.full(2, 5, np.float32)}
    return Program(graph, graph, initial=initial, init=init)


def _with(program: Program, name: str, value: object) -> Program:
    op = program.graph[name].with_attrs(value=Constant(np.asarray(value, np.float32)))
    graph = Graph({**program.graph.operations, name: op})
    return replace(program, graph=graph, forward=graph)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One entry for each time that `init` is run."""
    found: list[str] = []

    class Counted(module.Session):
        def run(self, *given: Any) -> list[np.ndarray]:
            found.append("init")
            return super().run(*given)

    monkeypatch.setattr(module, "Session", Counted)
    return found


def test_init_runs_again_only_where_it_does_something_else(runs: list[str]) -> None:
    first = FirstVariables(_program(), BACKEND)
    beside = FirstVariables(_with(first._program, "beside", 2.0), BACKEND, first)
    assert runs == ["init"]
    assert beside.store is first.store
    other = FirstVariables(_with(beside._program, "start", [3, 3]), BACKEND, beside)
    assert runs == ["init", "init"]
    assert other.store["v"].tolist() == [3, 3]
    assert other.store["w"].tolist() == [5, 5]
    assert first.store["v"].tolist() == [1, 1]


def test_a_device_is_known_again_though_it_was_opened_again(runs: list[str]) -> None:
    first = FirstVariables(_program(), NumpyBackend())
    again = FirstVariables(replace(first._program), NumpyBackend(), first)
    assert again.store is first.store
    other = NumpyBackend(name="another")
    assert FirstVariables(again._program, other, again).store.backend is other
    assert runs == ["init", "init"]


def test_init_runs_again_for_a_feed_that_it_reads_and_for_no_other(runs: list[str]) -> None:
    program = _program()

    def fed(name: str, value: float | list[float]) -> Program:
        return replace(program, feeds={TensorRef(name): np.array(value, np.float32)})

    first = FirstVariables(fed("beside", 1), BACKEND)
    beside = FirstVariables(fed("beside", 2), BACKEND, first)
    assert beside.store is first.store
    read = FirstVariables(fed("start", [3, 3]), BACKEND, beside)
    assert read.store["v"].tolist() == [3, 3]
    assert FirstVariables(fed("start", [3, 3]), BACKEND, read).store is read.store
    assert FirstVariables(fed("start", [3, 4]), BACKEND, read).store["v"].tolist() == [3, 4]
    assert FirstVariables(program, BACKEND, read).store["v"].tolist() == [1, 1]
    assert len(runs) == 4


def test_what_init_runs_is_known_again_until_some_of_it_changes() -> None:
    program = _program()
    known = init_run(program.graph, "init")
    assert known.needs == {"init", "first", "v", "start"}
    assert known.gives == {"v"}
    beside = continue_graph(_with(program, "beside", 2.0).graph, program.graph)
    assert init_run(beside, "init") is known
    other = continue_graph(_with(program, "start", [3, 3]).graph, beside)
    assert init_run(other, "init") is not known
    assert init_run(other, "first").needs == {"first", "v", "start"}


def test_another_first_value_is_that_variables_alone() -> None:
    first = FirstVariables(
        replace(_program(""), initial={"v": np.ones(2), "w": np.ones(2)}), BACKEND
    )
    initial = {**first._program.initial, "w": np.full(2, 7.0)}
    again = FirstVariables(replace(first._program, initial=initial), BACKEND, first)
    assert again.store["v"] is first.store["v"]
    assert again.store["w"].tolist() == [7, 7]
    assert first.store["w"].tolist() == [1, 1]
    fewer = FirstVariables(replace(again._program, initial={"w": initial["w"]}), BACKEND, again)
    assert [*fewer.store] == ["w"]


def test_values_that_init_has_nothing_to_do_with_come_and_go_without_it(runs: list[str]) -> None:
    first = FirstVariables(_program(), BACKEND)
    program = replace(first._program, initial={})
    without = FirstVariables(program, BACKEND, first)
    assert {name: x.tolist() for name, x in without.store.items()} == {"v": [1, 1]}
    other = FirstVariables(replace(program, initial={"w": np.full(2, 7.0)}), BACKEND, without)
    assert {name: x.tolist() for name, x in other.store.items()} == {"v": [1, 1], "w": [7, 7]}
    assert runs == ["init"]
    over = FirstVariables(replace(program, initial={"v": np.full(2, 9.0)}), BACKEND, other)
    assert {name: x.tolist() for name, x in over.store.items()} == {"v": [9, 9]}
    back = FirstVariables(program, BACKEND, over)
    assert {name: x.tolist() for name, x in back.store.items()} == {"v": [1, 1]}
    assert runs == ["init"] * 3


def test_a_value_that_nobody_can_write_to_is_held_as_it_is() -> None:
    program, frozen = _program(init=""), Constant(np.full(2, 5, np.float32)).array
    held = FirstVariables(replace(program, initial={"w": frozen}), BACKEND).store
    assert held["w"] is frozen
    own, long = np.full(2, 5, np.float32), Constant(np.full(2, 5, np.float64)).array
    for value in (own, long, frozen[::-1]):
        copied = FirstVariables(replace(program, initial={"w": value}), BACKEND).store["w"]
        assert (copied.dtype, copied.tolist()) == (np.float32, [5, 5])
        assert not np.may_share_memory(copied, value)
