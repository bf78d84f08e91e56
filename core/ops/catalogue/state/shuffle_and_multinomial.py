"""Random choices: the order of rows, and classes by their probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import INDEX, DType, Shape, TensorType
from gradstep.core.graph.model import Operation
from gradstep.core.ops.catalogue.state.random_tensors import SEEDS, UNSEEDED
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.host_arrays import integer
from gradstep.core.ops.declare.op_state import Counter
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import unref, want_rank, wrong_type
from gradstep.core.ops.numerics import stream_draws as streams
from gradstep.core.ops.numerics.philox import seeds_of


def _shuffle(
    xp: Any, value: Any, counter: Any, *, op: Operation, seed: int, seed2: int
) -> tuple[Any, Any]:
    rows = value.shape[0] if value.ndim else 0
    if rows <= 1 or value.size <= 1:
        return xp.array(value), counter
    seeds = seeds_of(seed, seed2, op.name)
    order = xp.asarray(streams.permutation(seeds, integer(counter), rows))
    return xp.take(value, order, axis=0), counter + streams.permutation_blocks(rows)


def _values(rng: np.random.Generator) -> list[Sample]:
    seeds = {"seed": 5, "seed2": 6}
    shapes = (7,), (4, 3), (1, 2), (0, 3), ()
    return [Sample((rng.normal(size=shape),), seeds) for shape in shapes]


op(
    "RandomShuffle",
    inputs="value",
    attrs=SEEDS,
    type_attrs={"T": "value"},
    formula="philox_shuffle(value, seed, seed2)",
    infer=unref,
    kernel=_shuffle,
    state=Counter(),
    gradient=NOT_DIFFERENTIABLE,
    samples=_values,
    arithmetic="exact",
    doc="The rows in random order.",
    differs=UNSEEDED,
)


def _classes(ctx: InferContext) -> TensorType:
    if not ctx.types[0].dtype.is_floating:
        raise wrong_type(ctx, ctx.types[0].dtype, "floating-point numbers")
    want_rank(ctx, 0, 2)
    want_rank(ctx, 1, 0)
    count = ctx.constant(1)
    if count is not None and integer(count) < 0:
        raise ctx.fail(
            f"Dimension size, given by scalar input 1, must be non-negative but is {integer(count)}"
        )
    rows = next(iter(ctx.types[0].shape)) if ctx.types[0].shape.rank is not None else None
    columns = None if count is None else integer(count)
    return TensorType(ctx.attr("output_dtype"), Shape.of(rows, columns))


def _choose(
    xp: Any,
    logits: Any,
    num_samples: Any,
    counter: Any,
    *,
    op: Operation,
    seed: int,
    seed2: int,
    output_dtype: DType,
) -> tuple[Any, Any]:
    rows, classes = logits.shape
    count = integer(num_samples)
    if count < 0:
        raise GradstepError(f"num_samples should be non-negative, got {count}")
    if classes == 0:
        raise GradstepError("num_classes should be positive, got 0")
    seeds = seeds_of(seed, seed2, op.name)
    found = streams.choices(seeds, integer(counter), logits, count)
    return xp.asarray(found.astype(DType(output_dtype).numpy)), (
        counter + streams.choices_blocks(rows, count)
    )


def _logits(rng: np.random.Generator) -> list[Sample]:
    seeds = {"seed": 8, "seed2": 9}
    return [
        Sample((rng.normal(size=(3, 4)), np.int32(5)), seeds),
        Sample((rng.normal(size=(2, 3)), np.int32(2)), {**seeds, "output_dtype": DType.INT32}),
        Sample((np.array([[1.0, -np.inf, np.nan]]), np.int32(4)), seeds),
        Sample((np.zeros((0, 3)), np.int32(4)), seeds),
        Sample((np.zeros((2, 3)), np.int32(0)), seeds),
    ]


op(
    "Multinomial",
    inputs="#logits #num_samples:int32",
    attrs={**SEEDS, "output_dtype": DType.INT64},
    choices={"output_dtype": INDEX},
    type_attrs={"T": "logits"},
    formula="philox_choices(logits, num_samples, seed, seed2)",
    infer=_classes,
    kernel=_choose,
    state=Counter(),
    gradient=NOT_DIFFERENTIABLE,
    samples=_logits,
    arithmetic="exact",
    doc="Classes drawn for each row of logits, with the probabilities of their softmax.",
    differs=f"{UNSEEDED}. TensorFlow's numbers for many rows depend on how many threads share them;"
    " here they are those of one thread",
)
