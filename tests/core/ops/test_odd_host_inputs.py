"""Shapes, axes and counts of any shape and size, before a run: no type rule stumbles over them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from gradstep.core.graph.dtypes import SCALAR, UNKNOWN, DType, Shape
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.ops.declare.table import OpDef, all_ops
from gradstep.core.ops.typing.inference import infer
from tests.support.each_case import on_each_op

FLOAT = DType.FLOAT32
SHAPES = ((), (0,), (1,), (3,), (2, 2))
DATA = (UNKNOWN, SCALAR, Shape.of(2, 3), Shape.of(None, 2, 3, 4))
ATTRS = {DType: FLOAT, tuple: (FLOAT,), str: "x", Shape: SCALAR, int: 1}
READ_ON_HOST = [d for d in all_ops() if any(spec.host for spec in d.inputs)]


def drawn(definition: OpDef, odd: int, value: np.ndarray, data: Shape) -> Graph:
    """An operation whose host input `odd` is a constant, the others vectors of one element."""
    taken = {spec.name: spec.takes[0] if spec.takes else None for spec in definition.inputs}
    made = []
    for index, spec in enumerate(definition.inputs):
        dtype = taken[spec.like or spec.name] or (DType.INT32 if spec.host else FLOAT)
        attrs: dict[str, object] = {"dtype": dtype, "shape": data}
        if spec.host:
            array = value if index == odd else np.zeros(1)
            attrs = {"dtype": dtype, "value": Constant(array.astype(dtype.numpy))}
        made.append(Operation(f"in{index}", "Const" if spec.host else "Placeholder", attrs=attrs))
    given = {k: ATTRS.get(v) for k, v in definition.attrs.items() if isinstance(v, type)}
    inputs = tuple(TensorRef(op.name) for op in made)
    return Graph.of([*made, Operation("it", definition.type, inputs, attrs=given)])


def odd_values(definition: OpDef) -> Iterator[tuple[int, np.ndarray, Shape]]:
    on_host = [index for index, spec in enumerate(definition.inputs) if spec.host]
    for odd, shape, number, data in product(on_host, SHAPES, (-1, 7), DATA):
        yield odd, np.full(shape, number), data


@on_each_op(READ_ON_HOST)
def test_no_constant_makes_a_type_rule_fail_unforeseen(definition: OpDef) -> None:
    for odd, value, data in odd_values(definition):
        for problem in infer(drawn(definition, odd, value, data)).problems:
            given = f"input {odd} is {value.tolist()}, data {data}"
            assert problem.kind != "InternalError", f"{given}: {problem.text}"
