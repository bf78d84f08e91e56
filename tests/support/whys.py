"""Small graphs, and what is said of their values and gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.checks.why.why_answers import Explainer
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.gradient_context import Situation
from gradstep.core.protocol.messages import Explanation

Build = Callable[[GraphBuilder], object]


def graph_of(build: Build) -> Graph:
    """What `build` makes, with the builder as the default graph."""
    builder = GraphBuilder()
    with builder.as_default():
        build(builder)
    return builder.build()


def given(values: Mapping[str, Any]) -> dict[TensorRef, np.ndarray]:
    """Numbers as float32, other arrays as they are."""
    found = {}
    for name, value in values.items():
        array = np.asarray(value)
        is_number = not isinstance(value, np.ndarray) and array.dtype.kind in "if"
        found[TensorRef.parse(name)] = array.astype(np.float32) if is_number else array
    return found


def why_gradient(
    graph: Graph, of: str, wrt: str, values: Mapping[str, Any], **asked: Any
) -> Explanation:
    """asked: what the request says besides."""
    request = replace(GradientRequest.to(of, wrt), **asked)
    return Explainer(Situation(graph, request, {}, given(values))).gradient(of, wrt)


def why_value(
    graph: Graph,
    of: str,
    values: Mapping[str, Any],
    initial: Mapping[str, Any] | None = None,
    targets: tuple[str, ...] = (),
    runs: int = 1,
    fetch: str = "",
) -> Explanation:
    """In the last of so many runs. fetch: what is computed, by default the same."""
    program = Program(
        graph,
        graph,
        fetches=(TensorRef.parse(fetch or of),),
        targets=targets,
        feeds=given(values),
        initial={n: np.asarray(v, np.float32) for n, v in (initial or {}).items()},
    )
    session = DebugSession(program)
    for _ in range(runs):
        session.continue_()
    here = Situation(graph, GradientRequest(), {}, {})
    return Explainer(here, session=session, run=session.stop.run).value(of)
