"""One op on one of its samples, as a graph and as arrays: what the checks of the op table run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape
from gradstep.core.graph.model import Constant, Graph, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.declare.table import OpDef, Sample

KNOWN, SIZES_UNKNOWN, NOTHING_KNOWN = "known", "sizes unknown", "nothing known"
# TensorFlow has them for no other floating-point numbers.
FLOAT32_ONLY = {"InTopK", "InTopKV2"}


@dataclass
class Case:
    """One op on one sample in one element type, as a graph and as arrays."""

    definition: OpDef
    inputs: list[Any]
    builder: GraphBuilder
    tensors: list[Tensor]
    outputs: list[TensorRef]
    feeds: dict[TensorRef | str, Any]

    @property
    def operation(self) -> Any:
        return self.builder.operation("it")

    @property
    def graph(self) -> Graph:
        return self.builder.build()


def cases(definition: OpDef, dtype: Any, known: str = KNOWN) -> Iterator[Case]:
    """Every sample of the op. `known`: what inference may know of the inputs before running."""
    assert definition.samples is not None
    for sample in definition.samples(np.random.default_rng(7)):
        yield make(definition, sample, dtype, known)


@lru_cache(300)  # all ops of a subject in two element types
def shared_cases(definition: OpDef, dtype: Any) -> tuple[Case, ...]:
    """Those that checks of one op after another only look at: nothing may write into the inputs."""
    found = tuple(cases(definition, dtype))
    for case in found:
        for x in case.inputs:
            x.setflags(write=False)
    return found


def make(definition: OpDef, sample: Sample, dtype: Any, known: str = KNOWN) -> Case:
    dtype = np.float32 if definition.type in FLOAT32_ONLY else dtype
    inputs = [_typed(x, dtype) for x in sample.inputs]
    specs = [s for s in definition.inputs if not s.variadic]
    attrs = {k: _attr(v, dtype) for k, v in sample.attrs.items()}
    if definition.attrs.get("dtype") is DType:
        attrs.setdefault("dtype", DType.of(dtype))
    double = {DType.COMPLEX64: DType.COMPLEX128, DType.FLOAT32: DType.FLOAT64}
    if definition.attrs.get("Tout") in double and dtype == np.float64:
        attrs.setdefault("Tout", double[definition.attrs["Tout"]])
    builder, feeds, tensors = GraphBuilder(), {}, []
    for index, (name, value) in enumerate(zip(definition.arity(len(inputs)), inputs, strict=True)):
        spec = next((s for s in specs if s.name == name), None) or next(
            s for s in definition.inputs if s.variadic
        )
        if name == "resource":
            handle = {"dtype": DType.of(value.dtype), "shape": Shape(value.shape)}
            tensors.append(builder.one("VarHandleOp", name=f"in{index}", **handle))
        elif spec.host and known != NOTHING_KNOWN:
            tensors.append(builder.constant(value, name=f"in{index}"))
        else:
            kind = DType.of(value.dtype)
            tensors.append(builder.placeholder(f"in{index}", kind, _said(value, known)))
            feeds[f"in{index}"] = value
    outputs = builder.op(definition.type, *tensors, name="it", **attrs)
    return Case(definition, inputs, builder, tensors, [t.ref for t in outputs], feeds)


def _typed(x: Any, dtype: Any) -> np.ndarray:
    """`x` in the precision of `dtype`, if it is a floating-point or complex number."""
    x = np.asarray(x)
    if x.dtype.kind == "c":
        return x.astype(np.result_type(dtype, np.complex64))
    return x.astype(dtype) if x.dtype.kind == "f" else x


def _attr(value: Any, dtype: Any) -> Any:
    return Constant(_typed(value.array, dtype)) if isinstance(value, Constant) else value


def _said(value: np.ndarray, known: str) -> Shape:
    if known == KNOWN:
        return Shape(value.shape)
    return Shape((None,) * value.ndim) if known == SIZES_UNKNOWN else UNKNOWN
