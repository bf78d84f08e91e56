"""Random programs with state: lists of instructions, and graphs over the op table of which some
inputs are variables, which are trained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.train.optimizers import apply_updates
from tests.support.layouts import Case
from tests.support.random_graphs import Drawn, graphs
from tests.support.random_networks import OPTIMIZERS, is_seen
from tests.support.random_scripts import FUNCTIONS, scripts, with_odd


@st.composite
def from_the_table(draw: Callable[..., Any]) -> Case:
    """A graph over the op table. Its inputs are fed, of known shape or not, or variables of either
    kind, which are trained."""
    drawn: Drawn = draw(graphs())
    case = Case(drawn.graph, (), functions=FUNCTIONS)
    feeds, initial, trained = {}, {}, []
    for ref, value in drawn.point.items():
        value = with_odd(draw, np.array(value))
        kind = draw(st.sampled_from(("fed", "unknown", "ref", "resource")))
        case = replace(case, graph=_given(case.graph, ref.op, kind))
        if kind in ("ref", "resource"):
            trained.append(ref.op if kind == "ref" else f"{ref.op}/handle")
            initial[trained[-1]] = value
        else:
            feeds[TensorRef(f"{ref.op}/fed") if kind == "unknown" else ref] = value
    build = GraphBuilder(case.graph)
    found, targets = _trained(draw, build, drawn, trained, initial)
    graph = build.build()
    seen = [op.output() for op in graph if is_seen(build, op)]
    some = draw(st.lists(st.sampled_from(seen), max_size=5))
    fetches = dict.fromkeys([*drawn.of, *found, *some])
    return replace(
        case, graph=graph, fetches=tuple(fetches), targets=targets, feeds=feeds, initial=initial
    )


def _given(graph: Graph, name: str, kind: str) -> Graph:
    """The placeholder `name` fed; or a function's result, of which no shape is known; or a
    variable."""
    op = graph[name]
    dtype, shape = op.attrs["dtype"], op.attrs["shape"]
    if kind == "fed":
        return graph
    if kind == "ref":
        return _with(graph, replace(op, type="VariableV2"))
    if kind == "resource":
        handle = Operation(f"{name}/handle", "VarHandleOp", attrs={"dtype": dtype, "shape": shape})
        read = replace(op, type="ReadVariableOp", inputs=(handle.output(),), attrs={"dtype": dtype})
        return _with(graph, handle, read)
    fed = Operation(f"{name}/fed", "Placeholder", attrs=op.attrs)
    attrs = {"token": "same", "Tin": (dtype,), "Tout": (dtype,), "_native_op_type": "Identity"}
    return _with(graph, fed, replace(op, type="PyFunc", inputs=(fed.output(),), attrs=attrs))


def _with(graph: Graph, *operations: Operation) -> Graph:
    """`graph` with these operations before all, in place of those of the same names."""
    new = {op.name: op for op in operations}
    return Graph({**new, **{n: op for n, op in graph.operations.items() if n not in new}})


def _trained(
    draw: Callable[..., Any],
    build: GraphBuilder,
    drawn: Drawn,
    variables: list[str],
    initial: dict[str, np.ndarray],
) -> tuple[list[TensorRef], tuple[str, ...]]:
    """Gradients for the variables, and their updates."""
    if not variables:
        return [], ()
    found = gradients([build.get(ref) for ref in drawn.of], [build.get(n) for n in variables])
    pairs = [(n, g) for n, g in zip(variables, found, strict=True) if g is not None]
    refs = [g.ref for _, g in pairs if isinstance(g, Tensor)]
    if not pairs:
        return refs, ()
    kind, hyper = draw(st.sampled_from(OPTIMIZERS))
    updates = apply_updates(build, kind, hyper, pairs)
    initial.update(updates.initial)
    return refs, updates.targets


def programs() -> st.SearchStrategy[Case]:
    return st.one_of(scripts(), scripts(), from_the_table())
