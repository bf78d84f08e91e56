"""Random graphs over every differentiable op: what hypothesis draws them from, and how they join.

An op's samples say what it can be given. To join one op to another, what the first made is brought
to the shape of the other's sample (gathered, summed and broadcast, or multiplied as a matrix), and
made a small wave around the sample's values; so every op stays where it is defined, and away from
kinks as far as its samples are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.declare.table import OpDef, Sample, all_ops
from tests.support.derivative_excuses import ONLY_FIRST_OUTPUT, WITHOUT_DERIVATIVE
from tests.support.op_cases import make

_WAVE, _STEEPNESS = 0.04, 8.0  # small next to the samples' distance from kinks; slopes of 0.3
_LARGEST = 400  # elements of a sample's inputs together
# Inputs that must fit something (a pooling's result what was pooled; labels must sum to 1, as the
# rule takes for granted): kept as they are.
_HELD = {
    "SoftmaxCrossEntropyWithLogits": (1,),
    "MaxPoolGrad": (0, 1),
    "MaxPoolGradGrad": (0, 1),
    "LRNGrad": (1, 2),
}
_SHAPES = ((), (1,), (3,), (2, 2), (1, 3), (2, 1, 2))


@dataclass
class Drawn:
    """A graph, where it is looked at, and what is asked of it; types: the ops it is made of."""

    builder: GraphBuilder
    point: dict[TensorRef, np.ndarray] = field(default_factory=dict)
    tensors: list[Tensor] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    of: tuple[TensorRef, ...] = ()

    @property
    def graph(self) -> Graph:
        return self.builder.build()

    @property
    def request(self) -> GradientRequest:
        return GradientRequest(self.of, tuple(self.point))


@cache
def choices() -> tuple[tuple[OpDef, Sample], ...]:
    """Every differentiable op with each sample that it is differentiable on."""
    return tuple(
        (definition, sample)
        for definition in all_ops()
        if definition.gradient.differentiable
        and definition.samples is not None
        and _computes(definition)
        for sample in definition.samples(np.random.default_rng(7))
        if sample.differentiable and _fits(definition, sample)
    )


def _computes(definition: OpDef) -> bool:
    """Whether it is a function of its inputs alone."""
    held = any(spec.ref or spec.name == "resource" for spec in definition.inputs)
    return not (held or definition.state.writes or definition.state.counter)


def _fits(definition: OpDef, sample: Sample) -> bool:
    arrays = [np.asarray(x) for x in sample.inputs]
    varied = [i for i, x in enumerate(arrays) if _varies(definition, i, x)]
    return bool(varied) and sum(x.size for x in arrays) <= _LARGEST


def _varies(definition: OpDef, index: int, x: np.ndarray) -> bool:
    left_out, _ = WITHOUT_DERIVATIVE.get(definition.type, ((), ""))
    kept = index in (*left_out, *_HELD.get(definition.type, ()))
    return x.dtype.kind in "fc" and x.size > 0 and not kept


@st.composite
def graphs(draw: Callable[..., Any]) -> Drawn:
    """A graph of one to six ops on one to three placeholders, and one to three tensors of it."""
    drawn = Drawn(GraphBuilder())
    for number in range(draw(st.integers(1, 3))):
        values = np.random.default_rng(draw(st.integers(0, 999)))
        shape = draw(st.sampled_from(_SHAPES))
        x = drawn.builder.placeholder(f"x{number}", "float64", shape)
        drawn.tensors.append(x)
        drawn.point[x.ref] = values.normal(size=shape)
    for _ in range(draw(st.integers(1, 6))):
        _add_op(draw, drawn)
    ends = draw(st.lists(st.sampled_from(range(len(drawn.tensors))), min_size=1, max_size=3))
    ends.append(len(drawn.tensors) - 1)
    with drawn.builder.scope("of"):
        drawn.of = tuple(_weighted(drawn.builder, drawn.tensors[i]).ref for i in ends)
    return drawn


def _add_op(draw: Callable[..., Any], drawn: Drawn) -> None:
    definition, sample = draw(st.sampled_from(choices()))
    inputs = [_input(draw, drawn, definition, i) for i in enumerate(sample.inputs)]
    attrs = make(definition, sample, np.float64).operation.attrs
    made = drawn.builder.op(definition.type, *inputs, **attrs)
    drawn.types.append(definition.type)
    for y in made[:1] if definition.type in ONLY_FIRST_OUTPUT else made:
        drawn.tensors += _real_parts(y)


def _input(
    draw: Callable[..., Any], drawn: Drawn, definition: OpDef, item: tuple[int, Any]
) -> Tensor:
    """A tensor for one input: a constant where the sample's values must be kept, else a wave
    around them that follows what is already there."""
    index, x = item[0], np.asarray(item[1])
    constant = drawn.builder.constant(x)
    if not _varies(definition, index, x) or draw(st.integers(0, 5)) == 0:
        return constant
    parts = [_wave(draw, drawn, x) for _ in range(2 if x.dtype.kind == "c" else 1)]
    wave = (
        parts[0] if len(parts) == 1 else drawn.builder.one("Complex", *parts, Tout=constant.dtype)
    )
    return constant + wave


def _wave(draw: Callable[..., Any], drawn: Drawn, like: np.ndarray) -> Tensor:
    source = draw(st.sampled_from(drawn.tensors))
    if draw(st.integers(0, 7)) == 0:
        source = drawn.builder.one("StopGradient", source)
    bridge = draw(st.sampled_from(_BRIDGES))
    return drawn.builder.one("Sin", bridge(draw, source, like.shape) * _STEEPNESS) * _WAVE


def _gathered(draw: Callable[..., Any], source: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Elements of `source` in any order, some twice."""
    flat = _flat(source)
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    count = int(np.prod(shape, dtype=int))
    places = rng.integers(0, _count(flat), count).astype(np.int32)
    axis = np.array(0, np.int32)
    return source.builder.one(
        "Reshape", source.builder.one("GatherV2", flat, places, axis), np.array(shape, np.int32)
    )


def _broadcast(draw: Callable[..., Any], source: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The mean of `source`, plus a ramp, everywhere."""
    kind = draw(st.sampled_from(("Mean", "Sum", "Max")))
    one = source.builder.one(kind, _flat(source), np.array([0], np.int32))
    ramp = np.linspace(0, 1, int(np.prod(shape, dtype=int))).reshape(shape)
    return one + source.builder.constant(ramp)


def _multiplied(draw: Callable[..., Any], source: Tensor, shape: tuple[int, ...]) -> Tensor:
    """A matrix times the elements of `source`."""
    builder, flat = source.builder, _flat(source)
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    matrix = rng.normal(size=(int(np.prod(shape, dtype=int)), _count(flat))) / _count(flat)
    column = builder.one("Reshape", flat, np.array([-1, 1], np.int32))
    product = builder.one("MatMul", builder.constant(matrix), column)
    return builder.one("Reshape", product, np.array(shape, np.int32))


_BRIDGES = (_gathered, _broadcast, _multiplied)


def _flat(x: Tensor) -> Tensor:
    return x.builder.one("Reshape", x, np.array([-1], np.int32))


def _count(flat: Tensor) -> int:
    return int(flat.shape.static()[0])


def _real_parts(y: Tensor) -> list[Tensor]:
    """`y` as real tensors of float64 that later ops can be joined to; none where it has none."""
    if not y.shape.is_static or 0 in y.shape.static():
        return []
    if y.dtype is DType.COMPLEX128:
        return [y.builder.one(name, y, Tout=DType.FLOAT64) for name in ("Real", "Imag")]
    return [y] if y.dtype is DType.FLOAT64 else []


def _weighted(builder: GraphBuilder, x: Tensor) -> Tensor:
    """Every element with its own weight, so that nothing cancels by chance."""
    shape = x.shape.static()
    ramp = 0.3 + np.arange(int(np.prod(shape, dtype=int))) * 0.37 % 1
    return x * builder.constant(ramp.reshape(shape))
