"""What one wants to follow of layers in training, as expressions: norms, ratios, dead units."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.ops.build.variable import VARIABLES

Family = Literal["value", "gradient", "ratio", "dead", "saturated", "size", "rate", "weight"]
LEARNING = 1e-3  # about what an update is of its weights where learning goes well

_RECTIFIERS = frozenset({"Relu", "Relu6"})
_BOUNDED = {"Sigmoid": (0, 1), "Tanh": (-1, 1)}  # what they saturate at


@dataclass(frozen=True)
class LayerCurve:
    """text: an expression of the breakpoints' language; title: its name; op: what it is of."""

    text: str
    title: str
    op: str
    family: Family


@dataclass(frozen=True)
class Trainable:
    """What can be followed. graph: of the document; gradients: the tensors that runs compute a
    gradient of; computed: the tensors that they compute; rates: the learning rates."""

    graph: Graph
    gradients: Iterable[TensorRef]
    computed: Container[str]
    rates: Iterable[TensorRef] = ()

    def curves(self, family: Family) -> list[LayerCurve]:
        """The curves of one kind, in the order of the graph."""
        make = _MAKERS.get(family)
        return [] if make is None else [*make(self)]

    @property
    def variables(self) -> list[TensorRef]:
        """Those that are trained."""
        graph = self.graph
        found = [r for r in self.gradients if r.op in graph and graph[r.op].type in VARIABLES]
        there = {ref.op for ref in found}
        return [TensorRef(op.name) for op in graph if op.name in there]

    def outputs(self, types: Container[str]) -> Iterator[Operation]:
        """The operations of these types that runs compute."""
        for op in self.graph:
            if op.type in types and str(TensorRef(op.name)) in self.computed:
                yield op


def _gradients(of: Trainable) -> Iterator[LayerCurve]:
    for ref in of.variables:
        yield LayerCurve(f'norm(grad["{ref}"])', f"‖∂ {ref.short}‖", ref.op, "gradient")


def _ratios(of: Trainable) -> Iterator[LayerCurve]:
    for ref in of.variables:
        text = f'ratio(update["{ref}"], x["{ref}"])'
        yield LayerCurve(text, f"Δ {ref.short}", ref.op, "ratio")


def _dead(of: Trainable) -> Iterator[LayerCurve]:
    for op in of.outputs(_RECTIFIERS):
        text = f'dead(x["{TensorRef(op.name)}"])'
        yield LayerCurve(text, f"dead {op.name}", op.name, "dead")


def _saturated(of: Trainable) -> Iterator[LayerCurve]:
    for op in of.outputs(_BOUNDED):
        low, high = _BOUNDED[op.type]
        text = f'saturated(x["{TensorRef(op.name)}"], {low}, {high})'
        yield LayerCurve(text, f"flat {op.name}", op.name, "saturated")


def _sizes(of: Trainable) -> Iterator[LayerCurve]:
    names = [ref.op for ref in of.variables]
    names += [op.name for op in of.outputs(_RECTIFIERS | _BOUNDED.keys())]
    for name in names:
        yield LayerCurve(f'max(abs(x["{TensorRef(name)}"]))', f"max |{name}|", name, "size")


def _rates(of: Trainable) -> Iterator[LayerCurve]:
    for ref in of.rates:
        yield LayerCurve(f'x["{ref}"]', ref.short, "", "rate")


_MAKERS: Mapping[Family, Callable[[Trainable], Iterator[LayerCurve]]] = {
    "gradient": _gradients,
    "ratio": _ratios,
    "dead": _dead,
    "saturated": _saturated,
    "size": _sizes,
    "rate": _rates,
}
