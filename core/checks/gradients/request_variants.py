"""Variants of what is asked of differentiation: native, bent as it stands, or straight through."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from gradstep.core.autodiff.check.gradcheck import strip_gradient_op_types
from gradstep.core.autodiff.reverse.differentiate import Differentiation, differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override
from gradstep.core.graph.loop import within
from gradstep.core.graph.model import Graph
from gradstep.core.ops.declare.table import find
from gradstep.core.program.gradient_context import Situation
from gradstep.core.protocol.vocabulary import VariantName

_THROUGH = "Identity"  # whose gradient a straight-through estimator takes

Bend = Callable[[GradientRequest, Graph], GradientRequest]


def _native(request: GradientRequest, graph: Graph) -> GradientRequest:
    return replace(request, overrides=(), stops=frozenset(), stopped_edges=frozenset())


def _as_it_stands(request: GradientRequest, graph: Graph) -> GradientRequest:
    return replace(request, overrides=tuple(one for one in request.overrides if one.enabled))


def _overrides_only(request: GradientRequest, graph: Graph) -> GradientRequest:
    in_force = _as_it_stands(request, graph)
    return replace(in_force, stops=frozenset(), stopped_edges=frozenset())


def _stops_only(request: GradientRequest, graph: Graph) -> GradientRequest:
    return replace(request, overrides=())


def _straight_through(request: GradientRequest, graph: Graph) -> GradientRequest:
    """What rounds, or takes the sign, as if it were not there; nothing else is bent."""
    types = dict.fromkeys(op.type for op in within(graph) if _is_stepped(op.type))
    return replace(_native(request, graph), overrides=tuple(Override(_THROUGH, t) for t in types))


def _is_stepped(type: str) -> bool:
    definition = find(type)
    return definition is not None and definition.gradient.stepped


BENDS: Mapping[VariantName, Bend] = {
    "native": _native,
    "as it stands": _as_it_stands,
    "overrides only": _overrides_only,
    "stops only": _stops_only,
    "straight-through": _straight_through,
}
_OWN_TYPES = frozenset({"as it stands", "overrides only"})  # `_gradient_op_type` is an override


class RequestVariants:
    """The variants of one request, each differentiated when it is asked for; those that come to the
    same request of the same graph once. graph: the part of it that the request is about."""

    def __init__(self, here: Situation) -> None:
        self._here = here
        self.graph = here.needed(here.request)
        self.bare = self.graph
        if any(op.gradient_op_type for op in within(self.graph)):
            self.bare = strip_gradient_op_types(self.graph)
        self._known: dict[tuple[int, GradientRequest], Differentiation] = {}

    def derive(self, variant: VariantName) -> Differentiation:
        """Raises GradstepError where a gradient in force cannot be computed."""
        if variant == "as it stands" and self._here.imported is not None:
            return self._here.imported
        graph = self.graph if variant in _OWN_TYPES else self.bare
        request = BENDS[variant](self._here.request, graph)
        key = id(graph), request
        if key not in self._known:
            self._known[key] = differentiate(graph, request, self._here.functions)
        return self._known[key]
