"""Edits that would mend what an explanation names, the best first: to be tried, and then taken."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gradstep.core.debug.history.frozen_program import NamedEdit
from gradstep.core.document.document import Document
from gradstep.core.document.named_edits import edit_by_name
from gradstep.core.document.repairs import scaled, source_of
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.ops.typing.flatten_loops import original_edge
from gradstep.core.protocol.messages import Explanation

_CHOOSERS = ("Select", "SelectV2")
_SWITCHES = ("Switch", "RefSwitch")
_QUOTIENTS = ("Div", "RealDiv", "TrueDiv")
_TOP = {np.dtype(np.float16): "10", np.dtype(np.float64): "700"}  # exponents that do not overflow


@dataclass(frozen=True, eq=False)
class _Case:
    """What there is to look at: op is where it happens, a forward operation."""

    document: Document
    found: Explanation
    op: Operation
    operand: str = ""

    @property
    def graph(self) -> Graph:
        return self.document.graph

    @property
    def wire(self) -> Edge:
        """Into the operand that is to blame; of the operation's inputs, the first."""
        refs = [None if ref is None else ref.short for ref in self.op.inputs]
        blamed = self.operand.removesuffix(":0")
        return Edge(self.op.name, refs.index(blamed) if blamed in refs else 0)


def find_remedies(document: Document, found: Explanation) -> list[NamedEdit]:
    """Those that can be made in the document as it is."""
    operands = [link.operand for link in found.chain if link.node == found.node and link.operand]
    if found.node is None or found.node not in document.graph:
        return []
    case = _Case(document, found, document.graph[found.node], next(iter(operands), ""))
    make = _BY_CAUSE.get(found.cause)
    wanted = () if make is None else make(case)
    return [edit for edit in dict.fromkeys(wanted) if _can_be_made(document, edit)]


def _can_be_made(document: Document, edit: NamedEdit) -> bool:
    try:
        return edit_by_name(document, *edit) is not document
    except (GradstepError, KeyError):
        return False


# -- NaN and infinity ------------------------------------------------------------------------------


def _safe(case: _Case, fill: str) -> Iterator[NamedEdit]:
    """Where the result is one side of a Select, the other Where that goes with it."""
    for edge in case.graph.consumers[case.op.name]:
        chooser = case.graph[edge.op]
        if chooser.type in _CHOOSERS and edge.index in (1, 2):
            names = str(case.wire), chooser.name, str(edge.index), fill
            yield "safe_where", names


def _above_zero(epsilon: str) -> Callable[[_Case], Iterator[NamedEdit]]:
    def make(case: _Case) -> Iterator[NamedEdit]:
        source = case.op.inputs[0] if case.op.inputs else None
        behind = "" if source is None else case.graph[source.op].type
        if case.op.type == "Log" and source is not None and behind == "Softmax":
            yield "log_softmax", (case.op.name, source.op)
        yield from _safe(case, "1")
        yield "add_epsilon", (str(case.wire), epsilon)
        yield "keep_above", (str(case.wire), epsilon)

    return make


def _not_negative(low: str) -> Callable[[_Case], Iterator[NamedEdit]]:
    def make(case: _Case) -> Iterator[NamedEdit]:
        yield from _safe(case, "1")
        yield "keep_above", (str(case.wire), low)

    return make


def _divisor(case: _Case) -> Iterator[NamedEdit]:
    if case.op.type not in _QUOTIENTS:
        yield from _not_negative("1e-7")(case)
        return
    wire = Edge(case.op.name, 1)
    for kind, names in _safe(case, "1"):
        yield kind, (str(wire), *names[1:])
    yield "div_no_nan", (case.op.name,)
    yield "add_epsilon", (str(wire), "1e-7")


def _overflow(case: _Case) -> Iterator[NamedEdit]:
    if case.op.type in ("Exp", "Expm1", "Sinh", "Cosh"):
        yield from _safe(case, "0")
        _, _, dtype = source_of(case.document, str(case.wire))
        yield "keep_below", (str(case.wire), _TOP.get(dtype, "80"))
    yield from _smaller(case)


# -- zero and None -----------------------------------------------------------------------------


def _weights(case: _Case, names: Sequence[str]) -> Iterator[str]:
    """Variables with a first value that these operations read, and what leads to them."""
    behind = case.graph.ancestors([*names])
    near = [n for n in reversed(case.graph.order) if n in behind]
    for name in near:
        if case.graph[name].type in VARIABLES and name in case.document.initial:
            yield name


def _smaller(case: _Case) -> Iterator[NamedEdit]:
    for name in [*_weights(case, (case.op.name,))][:1]:
        if np.any(case.document.initial[name].array):
            yield "scale", scaled(case.document, name, "0.1")


def _begin_otherwise(case: _Case) -> Iterator[NamedEdit]:
    """Weights that begin with zeros: what a first layer of that width is drawn with."""
    names = [link.node for link in case.found.chain if link.node in case.document.initial]
    for name in [*names, *_weights(case, (case.op.name,))][:1]:
        shape = case.document.initial[name].array.shape
        if not np.any(case.document.initial[name].array):
            yield "draw", (name, f"{1 / np.sqrt(max(shape[0] if shape else 1, 1)):.2g}")


def _inactive(case: _Case) -> Iterator[NamedEdit]:
    if case.op.type == "Relu":
        yield "leak", (case.op.name,)
    yield from _begin_otherwise(case)


def _stopped(case: _Case) -> Iterator[NamedEdit]:
    if case.op.type == "StopGradient":
        yield "let_through", (case.op.name,)
    request, graph = case.document.request, case.graph
    for index, ref in enumerate(case.op.inputs):
        edge = original_edge(graph, Edge(case.op.name, index))
        if edge in request.stopped_edges:
            yield "unstop", (str(edge),)
        if ref in request.stops:
            yield "unstop", (str(ref),)


def _unfed(case: _Case) -> Iterator[NamedEdit]:
    yield "unfeed", (str(case.op.output()),)


def _native(case: _Case) -> Iterator[NamedEdit]:
    yield "native", (case.op.name,)


def _straight_through(case: _Case) -> Iterator[NamedEdit]:
    if case.op.type == "StopGradient":
        yield "let_through", (case.op.name,)
    if case.op.type in ("Floor", "Ceil", "Rint", "Round", "Sign", "Heaviside"):
        yield "override", ("Identity", case.op.name, "op")


def _other_branch(case: _Case) -> Iterator[NamedEdit]:
    """The predicate of the nearest Switch before it, if it is fed or a constant, the other way."""
    behind = case.graph.ancestors([case.op.name])
    switches = [n for n in reversed(case.graph.order) if n in behind]
    for name in switches:
        op = case.graph[name]
        predicate = op.inputs[1] if op.type in _SWITCHES else None
        while predicate is not None and case.graph[predicate.op].type == "Identity":
            predicate = case.graph[predicate.op].inputs[0]
        if predicate is not None:
            value = _known(case.document, predicate)
            if value is not None and value.dtype == bool and value.ndim == 0:
                yield "feed", (str(predicate), "false" if value else "true")
            return


def _known(document: Document, ref: TensorRef) -> np.ndarray | None:
    """What it is fed, or is as a constant."""
    op = document.graph[ref.op]
    held = op.attrs.get("value") if op.type == "Const" else document.feeds.get(str(ref))
    return None if held is None else held.array


def _too_large(case: _Case) -> Iterator[NamedEdit]:
    for name in [*_weights(case, case.found.path)][:1]:
        yield "scale", scaled(case.document, name, "0.1")


def _too_small(case: _Case) -> Iterator[NamedEdit]:
    for name in [*_weights(case, case.found.path)][:1]:
        yield "scale", scaled(case.document, name, "10")


_BY_CAUSE: Mapping[str, Callable[[_Case], Iterator[NamedEdit]]] = {
    "log_of_zero": _above_zero("1e-7"),
    "log_of_negative": _not_negative("1e-7"),
    "root_at_zero": _above_zero("1e-12"),
    "root_of_negative": _not_negative("1e-12"),
    "negative_to_fraction": _not_negative("1e-7"),
    "zero_to_negative_power": _above_zero("1e-7"),
    "outside_domain": _not_negative("1e-7"),
    "at_pole": _above_zero("1e-7"),
    "division_by_zero": _divisor,
    "zero_over_zero": _divisor,
    "overflow": _overflow,
    "zero_factor": _begin_otherwise,
    "inactive": _inactive,
    "saturated": _smaller,
    "flat": _straight_through,
    "stopped": _stopped,
    "override": _native,
    "fed": _unfed,
    "not_differentiable": _straight_through,
    "untaken": _other_branch,
    "exploding": _too_large,
    "vanishing": _too_small,
}
