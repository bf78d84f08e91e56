"""`gradients(ys, xs)` on tensors of a graph that is being built: TensorFlow's own call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gradstep.core.autodiff.reverse.differentiate import Differentiation, differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override
from gradstep.core.autodiff.reverse.gradient_rules import GradientFunction
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.build.indexed_slices import IndexedSlices
from gradstep.core.ops.build.variable import Variable

Gradient = Tensor | IndexedSlices | None


def gradients(
    ys: Tensor | Sequence[Tensor],
    xs: Tensor | Sequence[Tensor],
    grad_ys: Sequence[Tensor | None] | None = None,
    stop_gradients: Sequence[Tensor] = (),
    unconnected_gradients: str = "none",
    gate: bool = False,
    overrides: Sequence[Override] = (),
    functions: Mapping[str, GradientFunction] | None = None,
) -> list[Gradient]:
    """The gradient of the sum of all elements of `ys` with respect to each of `xs`, in the graph
    of `ys`: a tensor of the shape of x, IndexedSlices where only rows of x were taken, or None.
    Every call adds a scope of its own: `gradients`, `gradients_1`, …

    grad_ys, stop_gradients, unconnected_gradients ("none" or "zero"), gate, overrides: see
    GradientRequest. Raises GradstepError in TensorFlow's words.
    """
    ys = _as_list(ys)
    xs = [x.handle if isinstance(x, Variable) else x for x in _as_list(xs)]
    if unconnected_gradients not in ("none", "zero"):
        raise GradstepError(
            f"Unknown value for unconnected_gradients: '{unconnected_gradients}'",
            kind="ValueError",
            hint="it is 'none' or 'zero'",
        )
    if not ys:
        return [None] * len(xs)
    builder = ys[0].builder
    xs = [_inside(builder, x) for x in xs]
    request = GradientRequest(
        of=tuple(y.ref for y in ys),
        wrt=tuple(x.ref for x in xs),
        stops=frozenset(t.ref for t in stop_gradients),
        overrides=tuple(overrides),
        unconnected_zero=unconnected_gradients == "zero",
        grad_ys=() if grad_ys is None else tuple(None if g is None else g.ref for g in grad_ys),
        gate=gate,
    )
    scope = f"{builder.scope_name}/gradients".lstrip("/")
    derived = differentiate(builder.build(), request, functions, scope=scope)
    _adopt(builder, derived)
    return [get_gradient(builder, derived, x.ref) for x in xs]


def _as_list(tensors: Tensor | Sequence[Tensor]) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _inside(builder: GraphBuilder, x: Tensor) -> Tensor:
    """`x` as it is seen in the loop's body that is being made, if one is."""
    branch = builder.branch
    if branch is None or not branch.goes_round:
        return x
    return branch.brought(x, builder.unique("Enter"))


def _adopt(builder: GraphBuilder, derived: Differentiation) -> None:
    for op in derived.graph:
        if not builder.has(op.name):
            builder.adopt(op)


def get_gradient(builder: GraphBuilder, derived: Differentiation, x: TensorRef) -> Gradient:
    """The gradient of `x` as TensorFlow gives it; `builder` has the operations of `derived`."""
    dense = derived.gradients.get(x)
    if dense is None:
        return None
    rows = derived.slices.get(x)
    if rows is None:
        return builder.get(dense)
    kind = builder.type_of(dense).shape
    shape: Tensor | np.ndarray
    if kind.is_static:
        shape = np.array(kind.static(), np.int32)
    else:
        shape = builder.one("Shape", builder.get(x))
    return IndexedSlices(builder.get(rows.values), builder.get(rows.indices), shape)
