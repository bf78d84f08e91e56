"""Random counts: how many events happen at a given rate."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import INDEX, DType, Shape, TensorType
from gradstep.core.graph.model import Operation
from gradstep.core.ops.catalogue.state.random_tensors import (
    SEEDS,
    UNSEEDED,
    drawn_shape,
    drawn_sizes,
)
from gradstep.core.ops.declare.host_arrays import integer
from gradstep.core.ops.declare.op_state import Counter
from gradstep.core.ops.declare.samples import ints
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import real
from gradstep.core.ops.numerics.philox import seeds_of
from gradstep.core.ops.numerics.poisson_sampling import poisson
from gradstep.core.ops.numerics.stream_draws import RESERVED


def _counted(ctx: InferContext) -> TensorType:
    shape, rates = drawn_shape(ctx), ctx.types[1].shape
    if shape.dims is None or rates.dims is None:
        return TensorType(ctx.attr("dtype"))
    return TensorType(ctx.attr("dtype"), Shape((*shape.dims, *rates.dims)))


def _draw(
    xp: Any,
    shape: Any,
    rate: Any,
    counter: Any,
    *,
    op: Operation,
    seed: int,
    seed2: int,
    dtype: DType,
) -> tuple[Any, Any]:
    sizes = drawn_sizes(shape)
    count = int(np.prod(sizes, dtype=np.int64))
    rates = rate.astype(np.float64)
    if not np.isfinite(rates).all():
        raise GradstepError("a rate is infinite or NaN", hint="give finite rates")
    found = poisson(seeds_of(seed, seed2, op.name), integer(counter), rates, count)
    result = found.T.reshape((*sizes, *rate.shape)).astype(DType(dtype).numpy)
    return xp.asarray(result), counter + RESERVED * found.size


op(
    "RandomPoissonV2",
    inputs="#shape:int32,int64 #rate",
    attrs={**SEEDS, "dtype": DType.INT64},
    choices={"dtype": (DType.FLOAT16, DType.FLOAT32, DType.FLOAT64, *INDEX)},
    type_attrs={"S": "shape", "R": "rate"},
    formula="philox_poisson(shape, rate, seed, seed2)",
    infer=real(_counted),
    kernel=_draw,
    state=Counter(),
    samples=lambda rng: [
        Sample((ints(4), np.array([0.5, 3.0, 9.9])), {"seed": 3, "seed2": 1}),
        Sample((ints(2, 2), np.array(25.0)), {"seed": 3, "seed2": 2, "dtype": DType.FLOAT32}),
        Sample((np.zeros(0, np.int32), np.array([[0.0], [100.0]])), {"seed": 5}),
        Sample((ints(0), np.array([2.0])), {"seed": 5}),
    ],
    arithmetic="exact",
    doc="Random counts of events that happen at the given rates, `shape` of them for each rate.",
    differs=f"{UNSEEDED}. A rate that is infinite or NaN is refused; TensorFlow never returns",
)
