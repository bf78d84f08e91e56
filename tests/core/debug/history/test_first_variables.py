"""The variables before run 0, after edits: what cannot be otherwise is not made again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gradstep.core.debug.history import first_variables as module
from gradstep.core.debug.history.first_variables import FirstVariables
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.graph.model import Constant, Graph
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


def test_init_runs_again_only_where_it_does_something_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs: list[str] = []
    session = module.Session

    class Counted(session):  # type: ignore[misc, valid-type]
        def run(self, *given: object) -> object:
            runs.append("init")
            return super().run(*given)

    monkeypatch.setattr(module, "Session", Counted)
    first = FirstVariables(_program(), BACKEND)
    beside = FirstVariables(_with(first._program, "beside", 2.0), BACKEND, first)
    assert runs == ["init"]
    assert beside.store is first.store
    other = FirstVariables(_with(beside._program, "start", [3, 3]), BACKEND, beside)
    assert runs == ["init", "init"]
    assert other.store["v"].tolist() == [3, 3]
    assert other.store["w"].tolist() == [5, 5]
    assert first.store["v"].tolist() == [1, 1]


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
