"""One op on the first sample that it can be differentiated on, as a small graph."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.declare.table import OpDef, Sample

_NAME = "the op"


@dataclass(frozen=True)
class Specimen:
    """builder: the graph; inputs, outputs: the op's, by name; arriving: a placeholder for the
    gradient of each output that can have one; names: what the page calls all of them."""

    builder: GraphBuilder
    inputs: dict[str, Tensor]
    outputs: dict[str, Tensor]
    arriving: dict[TensorRef, TensorRef]
    names: dict[TensorRef, str] = field(default_factory=dict)

    @property
    def wrt(self) -> tuple[TensorRef, ...]:
        """The inputs that can have a gradient."""
        return tuple(x.ref for x in self.inputs.values() if _carries(x))


def specimen(definition: OpDef) -> Specimen | None:
    """On the first sample that differences agree on, else on the first; None for an op without
    samples, and where no sample's inputs can have a gradient."""
    if definition.samples is None:
        return None
    samples = definition.samples(np.random.default_rng(7))
    for sample in sorted(samples, key=lambda sample: not sample.differentiable):
        made = _of(definition, sample)
        if made.wrt and made.arriving:
            return made
    return None


def _of(definition: OpDef, sample: Sample) -> Specimen:
    builder = GraphBuilder()
    arrays = [_single(np.asarray(x)) for x in sample.inputs]
    given = zip(definition.arity(len(arrays)), arrays, strict=True)
    inputs = {name: _input(builder, definition, name, array) for name, array in given}
    attrs = dict(sample.attrs)
    if definition.attrs.get("dtype") is DType:
        attrs.setdefault("dtype", DType.FLOAT32)
    made = builder.op(definition.type, *inputs.values(), name=_NAME, **attrs)
    names = definition.outputs
    if names and names[-1].endswith("*"):
        names = tuple(f"{names[-1][:-1]}[{i}]" for i in range(len(made)))
    outputs = dict(zip(names, made, strict=True))
    arriving = {y.ref: _like(builder, name, y) for name, y in outputs.items() if _carries(y)}
    shown = {tensor.ref: name for name, tensor in (*inputs.items(), *outputs.items())}
    return Specimen(builder, inputs, outputs, arriving, shown)


def _input(builder: GraphBuilder, definition: OpDef, name: str, array: np.ndarray) -> Tensor:
    spec = next((s for s in definition.inputs if s.name == name.partition("[")[0]), None)
    if spec is not None and spec.host:
        return builder.constant(array, name=name)
    kind = {"dtype": DType.of(array.dtype), "shape": Shape(array.shape)}
    if name == "resource":
        return builder.one("VarHandleOp", name=name, **kind)
    return builder.one("Placeholder", name=name, **kind)


def _single(x: np.ndarray) -> np.ndarray:
    """Floating-point and complex samples in single precision, which attributes default to."""
    return x.astype({"f": np.float32, "c": np.complex64}.get(kind_of(x.dtype), x.dtype))


def _like(builder: GraphBuilder, name: str, y: Tensor) -> TensorRef:
    return builder.placeholder(f"gradient of {name}", y.dtype, y.shape).ref


def _carries(x: Tensor) -> bool:
    return x.dtype.is_differentiable
