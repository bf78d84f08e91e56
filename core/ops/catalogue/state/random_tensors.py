"""Random tensors of a given shape: TensorFlow's numbers for the same seeds, run after run.

An operation's stream restarts with every session and moves on with every run; how far it has come
is its counter (see `counter` in core/ops/declare/table.py), in blocks of 128 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.graph.model import Operation
from gradstep.core.graph.number_kinds import widened
from gradstep.core.ops.declare.attribute_kinds import attribute
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.host_arrays import holds_bfloat16, integer, integers
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.op_state import Counter
from gradstep.core.ops.declare.samples import ints
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import shape_from_sizes, want_rank, wrong_type
from gradstep.core.ops.numerics import stream_draws as streams
from gradstep.core.ops.numerics.philox import DRAWN_AS, Seeds, seeds_of

SEEDS = {"seed": 0, "seed2": 0}
UNSEEDED = (
    "with both seeds 0 the numbers follow from the operation's name, the same in every session; "
    "TensorFlow's are different each time"
)

Draw = Callable[[Seeds, int, int, np.dtype], np.ndarray]


def drawn_shape(ctx: InferContext) -> Shape:
    """The shape that input 0 describes."""
    want_rank(ctx, 0, 1)
    known = ctx.constant(0)
    return shape_from_sizes(ctx.types[0].shape) if known is None else Shape(drawn_sizes(known))


def drawn_sizes(shape: Any) -> tuple[int, ...]:
    sizes = integers(shape)
    for size in sizes:
        if size < 0:
            raise GradstepError(
                f"Dimension {size} must be >= 0", hint="a random tensor needs sizes of 0 or more"
            )
    return sizes


def _floats(ctx: InferContext) -> TensorType:
    dtype = ctx.attr("dtype")
    if not dtype.is_floating:
        raise wrong_type(ctx, dtype, "a floating-point element type")
    return TensorType(dtype, drawn_shape(ctx))


def _kernel(draw: Draw) -> Callable[..., Any]:
    def kernel(
        xp: Any, shape: Any, counter: Any, *, op: Operation, seed: int, seed2: int, dtype: DType
    ) -> Any:
        sizes = drawn_sizes(shape)
        count = int(np.prod(sizes, dtype=np.int64))
        # A graph in float64 for reference draws the numbers of the graph that it stands for.
        own = attribute(op, DRAWN_AS, DType, dtype).numpy
        numbers = draw(seeds_of(seed, seed2, op.name), integer(counter), count, own)
        result = numbers.reshape(sizes).astype(DType(dtype).numpy)
        held = result if holds_bfloat16(xp) else widened(result)
        return xp.asarray(held), counter + streams.RESERVED * count

    return kernel


def _shapes(rng: np.random.Generator) -> list[Sample]:
    seeds = {"seed": 7, "seed2": 2**40 + 1}
    shapes = ints(2, 3), ints(5), ints(0, 2), np.zeros(0, np.int32), np.array([17], np.int64)
    return [Sample((shape,), seeds) for shape in shapes]


for _type, _draw, _function, _doc in (
    (
        "RandomUniform",
        streams.uniforms,
        "philox_uniform",
        "Random numbers, uniform in [0, 1).",
    ),
    (
        "RandomStandardNormal",
        streams.normals,
        "philox_normal",
        "Random numbers of mean 0 and standard deviation 1, normally distributed.",
    ),
    (
        "TruncatedNormal",
        streams.truncated_normals,
        "philox_truncated_normal",
        "Random numbers, normally distributed, those beyond two standard deviations drawn again.",
    ),
):
    op(
        _type,
        inputs="#shape:int32,int64",
        attrs={**SEEDS, "dtype": DType},
        type_attrs={"T": "shape"},
        formula=f"{_function}(shape, seed, seed2)",
        infer=_floats,
        kernel=Kernels(_kernel(_draw), takes_bfloat16=True),
        state=Counter(),
        gradient=NOT_DIFFERENTIABLE,
        samples=_shapes,
        arithmetic="exact",  # made on the host, whatever the device
        doc=_doc,
        differs=UNSEEDED,
    )


def _whole(ctx: InferContext) -> TensorType:
    dtype = ctx.types[1].dtype
    if dtype not in (DType.INT32, DType.INT64) or ctx.types[2].dtype != dtype:
        raise wrong_type(ctx, ctx.types[2].dtype, "bounds of int32 or of int64")
    for index, name in ((1, "minval"), (2, "maxval")):
        if ctx.types[index].shape.rank not in (None, 0):
            shape = ctx.types[index].shape
            raise ctx.fail(f"{name} must be a scalar; got a tensor of shape {shape}")
    return TensorType(dtype, drawn_shape(ctx))


def _draw_whole(
    xp: Any,
    shape: Any,
    minval: Any,
    maxval: Any,
    counter: Any,
    *,
    op: Operation,
    seed: int,
    seed2: int,
) -> Any:
    sizes, low, high = drawn_sizes(shape), integer(minval), integer(maxval)
    count = int(np.prod(sizes, dtype=np.int64))
    if count and low >= high:
        raise GradstepError(
            f"Need minval < maxval, got {low} >= {high}", hint="maxval itself is never drawn"
        )
    seeds = seeds_of(seed, seed2, op.name)
    numbers = np.zeros(0, minval.dtype)
    if count:
        numbers = streams.uniform_integers(seeds, integer(counter), count, minval.dtype, low, high)
    return xp.asarray(numbers.reshape(sizes)), counter + streams.RESERVED * count


def _bounds(rng: np.random.Generator) -> list[Sample]:
    seeds = {"seed": 3, "seed2": 4}
    bounds = (np.int32(-4), np.int32(9)), (np.int64(-(2**62)), np.int64(2**62))
    return [Sample((ints(2, 3), *pair), seeds) for pair in bounds]


op(
    "RandomUniformInt",
    inputs="#shape:int32,int64 #minval #maxval",
    attrs=SEEDS,
    type_attrs={"Tout": "minval", "T": "shape"},
    formula="philox_integers(shape, minval, maxval, seed, seed2)",
    infer=_whole,
    kernel=_draw_whole,
    state=Counter(),
    samples=_bounds,
    arithmetic="exact",
    doc="Random whole numbers, uniform from minval to before maxval.",
    differs=UNSEEDED,
)
