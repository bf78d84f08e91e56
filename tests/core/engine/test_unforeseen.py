"""What Python raises in a kernel or rule reaches users in our words, and the log in its own."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradstep.core import errors
from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.graph.problems import Problem
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.declare import table
from gradstep.core.ops.declare.declared_gradient import Gradient
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.typing.inference import infer
from tests.support.each_case import each_of

BARE = "'NoneType' object is not subscriptable"


def breaks(*_: Any, **__: Any) -> Any:
    raise TypeError(BARE)


def drawn() -> Graph:
    builder = GraphBuilder()
    x = builder.placeholder("x", "float32", (2, 3))
    builder.one("Square", x, name="y")
    return builder.build()


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Square, with one part of its record replaced; nothing has been logged yet."""
    monkeypatch.setattr(errors, "_logged", set())

    def change(**parts: Any) -> None:
        definition = replace(table.lookup("Square"), **parts)
        monkeypatch.setitem(table._TABLE, "Square", definition)

    return change


def require_ours(error: GradstepError | Problem, caplog: Any, text: str) -> None:
    said = error.message if isinstance(error, GradstepError) else error.text
    assert said == text
    assert error.node == "y"
    hint = error.hint if isinstance(error, GradstepError) else error.fix
    assert "inputs and attributes" in hint
    assert BARE in caplog.text, "Python's own words are for the log"


@pytest.mark.parametrize("fast", [False, True])
def test_shapes_known_only_in_the_run_that_the_rule_of_an_op_refuses(fast: bool) -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x", "float32", (4, 2))
    axis = builder.placeholder("axis", "int32", ())
    rows = builder.one("ArgMax", x, axis, name="rows")
    builder.one("Equal", builder.placeholder("labels", "int64", (4,)), rows, name="y")
    session = Session(builder.build(), fast=fast)
    feeds = {"x": np.zeros((4, 2), np.float32), "axis": np.int32(0), "labels": np.zeros(4, int)}
    with pytest.raises(GradstepError, match=r"Incompatible shapes: \[4\] vs. \[2\]") as caught:
        session.run(["y"], feeds)
    assert (caught.value.kind, caught.value.node) == ("InvalidArgumentError", "y")


@each_of("fast", [False, True])
@each_of("type", ["Fill", "Reshape", "BroadcastTo"])
def test_more_dimensions_than_arrays_have(type: str, fast: bool) -> None:
    builder = GraphBuilder()
    sizes = builder.placeholder("sizes", "int32", (None,))
    one = builder.placeholder("one", "float32", ())
    builder.one(type, *((sizes, one) if type == "Fill" else (one, sizes)), name="y")
    session = Session(builder.build(), fast=fast)
    with pytest.raises(GradstepError, match="there is no array of shape") as caught:
        session.run(["y"], {"sizes": np.ones(70, np.int32), "one": np.float32(1)})
    assert (caught.value.kind, caught.value.node) == ("ResourceExhaustedError", "y")


@pytest.mark.parametrize("fast", [False, True])
def test_a_kernel(broken: Any, caplog: Any, fast: bool) -> None:
    graph = drawn()
    broken(kernel=Kernels(breaks))
    session = Session(graph, fast=fast)
    with caplog.at_level(logging.ERROR), pytest.raises(GradstepError) as caught:
        session.run([TensorRef("y")], {"x": np.ones((2, 3), np.float32)})
    text = "Square with x = float32[2, 3] could not be computed"
    require_ours(caught.value, caplog, text)
    assert caught.value.kind == "InternalError"


def test_a_type_rule(broken: Any, caplog: Any) -> None:
    graph = Graph(drawn().operations)
    broken(infer=breaks)
    with caplog.at_level(logging.ERROR):
        (problem,) = infer(graph).problems
    require_ours(problem, caplog, "what Square with x = float32[2, 3] gives could not be told")


def test_a_gradient_rule(broken: Any, caplog: Any) -> None:
    graph = drawn()
    broken(gradient=Gradient(breaks))
    request = GradientRequest((TensorRef("y"),), (TensorRef("x"),))
    with caplog.at_level(logging.ERROR), pytest.raises(GradstepError) as caught:
        differentiate(graph, request)
    text = "the gradient of Square with x = float32[2, 3] could not be made"
    require_ours(caught.value, caplog, text)
