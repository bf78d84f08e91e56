"""Checking one operation's gradient against finite differences of that operation alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.autodiff.gradcheck import analytic_gradients
from core.autodiff.numeric import Evaluate, NumericGradient, agree, numeric_gradients
from core.autodiff.request import GradientRequest, gradient_name
from core.autodiff.rules import GradientFunction
from core.autodiff.widen import widen, widen_array
from core.graph.dtypes import DType, Shape
from core.graph.model import Constant, Graph, Operation, TensorRef

_LARGEST = 4096  # input elements; beyond this a node's check would cost as many runs


@dataclass(frozen=True)
class LocalCheck:
    """One node. results, numeric: per data input that is a float tensor (by input index), the
    gradient in force and the numeric one for the cotangents that really arrived."""

    node: str
    gradient: str
    results: Mapping[int, np.ndarray | None]
    numeric: Mapping[int, NumericGradient]

    @property
    def wrong_inputs(self) -> list[int]:
        """Inputs whose gradient is not what the numbers say."""
        return [i for i, n in self.numeric.items() if not agree(self.results[i], n).all()]

    @property
    def agrees(self) -> bool:
        return not self.wrong_inputs


def check_operation(
    evaluate: Evaluate,
    op: Operation,
    inputs: Sequence[np.ndarray],
    cotangents: Mapping[int, np.ndarray],
    request: GradientRequest,
    functions: Mapping[str, GradientFunction],
) -> LocalCheck | None:
    """The gradient of `op` alone, at its real `inputs`, for its real `cotangents` (output index
    -> array). None when there is nothing to check: no float inputs, or too many elements."""
    floats = [i for i, x in enumerate(inputs) if x.dtype.kind == "f"]
    if not floats or not cotangents or sum(inputs[i].size for i in floats) > _LARGEST:
        return None
    graph, holes, total = _isolated(op, inputs, cotangents)
    point = {hole: widen_array(x) for hole, x in zip(holes, inputs, strict=True)}
    local = replace(
        request,
        of=(total,),
        wrt=tuple(holes[i] for i in floats),
        stops=frozenset(),
        stopped_edges=frozenset(),
    )
    results = analytic_gradients(evaluate, graph, local, point, functions)
    numeric = numeric_gradients(evaluate, graph, local, point)
    name = gradient_name(op, request.overrides)
    return LocalCheck(
        op.name,
        name,
        {i: results[holes[i]] for i in floats},
        {i: numeric[holes[i]] for i in floats},
    )


def _isolated(
    op: Operation, inputs: Sequence[np.ndarray], cotangents: Mapping[int, np.ndarray]
) -> tuple[Graph, list[TensorRef], TensorRef]:
    """`op` between placeholders and sum(output * cotangent), all in float64."""
    made: list[Operation] = []

    def make(name: str, type: str, *refs: TensorRef, **attrs: object) -> TensorRef:
        made.append(Operation(f"check/{name}", type, refs, attrs=attrs))
        return made[-1].output()

    holes = [
        make(f"in{i}", "Placeholder", dtype=DType.of(w.dtype), shape=Shape(w.shape))
        for i, w in enumerate(map(widen_array, inputs))
    ]
    alone = replace(op, inputs=tuple(holes), control_inputs=())
    made.extend(widen(Graph.of([alone])))
    parts = []
    for index, cotangent in cotangents.items():
        weight = make(f"g{index}", "Const", value=Constant(widen_array(cotangent)))
        parts.append(make(f"y{index}", "Mul", op.output(index), weight))
        axes = make(
            f"axes{index}", "Const", value=Constant(np.arange(cotangent.ndim, dtype=np.int32))
        )
        parts[-1] = make(f"sum{index}", "Sum", parts[-1], axes)
    total = parts[0] if len(parts) == 1 else make("total", "AddN", *parts)
    return Graph.of(made), holes, total
