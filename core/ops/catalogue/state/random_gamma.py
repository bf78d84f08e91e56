"""Random numbers of a gamma distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import Shape, TensorType
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
from gradstep.core.ops.declare.type_rules import wrong_type
from gradstep.core.ops.numerics.gamma_sampling import gammas
from gradstep.core.ops.numerics.philox import seeds_of
from gradstep.core.ops.numerics.stream_draws import RESERVED


def _drawn(ctx: InferContext) -> TensorType:
    alpha, shape = ctx.types[1], drawn_shape(ctx)
    if not alpha.dtype.is_floating:
        raise wrong_type(ctx, alpha.dtype, "a floating-point alpha")
    if shape.dims is None or alpha.shape.dims is None:
        return TensorType(alpha.dtype)
    return TensorType(alpha.dtype, Shape((*shape.dims, *alpha.shape.dims)))


def _draw(
    xp: Any, shape: Any, alpha: Any, counter: Any, *, op: Operation, seed: int, seed2: int
) -> tuple[Any, Any]:
    sizes = drawn_sizes(shape)
    if not (alpha > 0).all():
        raise GradstepError("alpha must be positive", hint="give numbers above 0")
    count = int(np.prod(sizes, dtype=np.int64))
    found = gammas(seeds_of(seed, seed2, op.name), integer(counter), alpha, count)
    result = found.T.reshape((*sizes, *alpha.shape)).astype(alpha.dtype)
    return xp.asarray(result), counter + RESERVED * found.size


op(
    "RandomGamma",
    inputs="#shape:int32,int64 #alpha",
    attrs=SEEDS,
    type_attrs={"S": "shape", "T": "alpha"},
    formula="philox_gamma(shape, alpha, seed, seed2)",
    infer=_drawn,
    kernel=_draw,
    state=Counter(),
    samples=lambda rng: [
        Sample((ints(3), np.array([0.5, 1.0, 4.0])), {"seed": 3, "seed2": 1}),
        Sample((ints(2, 2), np.array(25.0)), {"seed": 3, "seed2": 2}),
        Sample((ints(0), np.array([2.0])), {"seed": 5}),
    ],
    arithmetic="exact",  # made on the host, whatever the device
    doc="Random numbers of a gamma distribution, `shape` of them for each alpha.",
    kinks="it has no gradient: asking for one is a LookupError",
    differs=f"{UNSEEDED}; an alpha of 0 or less is refused; TensorFlow has a gradient for alpha",
)
