"""Classes drawn at random for the losses of many classes: sampled softmax, noise contrast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.graph.model import Operation
from gradstep.core.ops.catalogue.state.random_tensors import SEEDS, UNSEEDED
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.host_arrays import integer
from gradstep.core.ops.declare.op_state import Counter
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import want_rank
from gradstep.core.ops.numerics.candidate_draws import (
    MAKERS,
    RESERVED,
    Sampler,
    draw_classes,
    expected_counts,
)
from gradstep.core.ops.numerics.philox import seeds_of


def _sampled(ctx: InferContext) -> tuple[TensorType, ...]:
    want_rank(ctx, 0, 2)
    count, classes = ctx.attr("num_sampled"), ctx.attr("range_max")
    if count < 1 or classes < 1:
        raise ctx.fail(f"num_sampled is {count} and range_max {classes}: both must be at least 1")
    if ctx.attr("unique") and count > classes:
        raise ctx.fail(
            f"Sampler's range is too small: {count} of {classes} cannot all be different.",
            hint="draw fewer, or set unique to false",
        )
    dims = ctx.types[0].shape.dims or (None, None)
    counts = TensorType(DType.FLOAT32, Shape((dims[0], ctx.attr("num_true"))))
    drawn = Shape((count,))
    return TensorType(DType.INT64, drawn), counts, TensorType(DType.FLOAT32, drawn)


def _kernel(make: Callable[[int], Sampler]) -> Callable[..., Any]:
    def kernel(
        xp: Any,
        true_classes: Any,
        counter: Any,
        *,
        op: Operation,
        num_true: int,
        num_sampled: int,
        unique: bool,
        range_max: int,
        seed: int,
        seed2: int,
    ) -> tuple[Any, ...]:
        if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
            raise GradstepError("true_classes must have num_true columns")
        sampler, seeds = make(range_max), seeds_of(seed, seed2, op.name)
        found, tries = draw_classes(sampler, seeds, integer(counter), num_sampled, unique)
        counts = (
            expected_counts(sampler, classes, num_sampled, tries)
            for classes in (np.asarray(true_classes), found)
        )
        return (*map(xp.asarray, (found, *counts)), counter + RESERVED * num_sampled)

    return kernel


def _samples(rng: np.random.Generator) -> list[Sample]:
    attrs = {"num_true": 2, "seed": 5, "seed2": 6}
    classes = np.array([[0, 3], [9, 1], [2, 2]], np.int64)
    return [
        Sample((classes,), {**attrs, "num_sampled": 4, "unique": True, "range_max": 10}),
        Sample((classes,), {**attrs, "num_sampled": 5, "unique": False, "range_max": 16}),
        Sample((classes,), {**attrs, "num_sampled": 300, "unique": True, "range_max": 1000}),
    ]


for _type, _law in (
    ("UniformCandidateSampler", "all alike"),
    ("LogUniformCandidateSampler", "by Zipf's law, as words sorted by how often they come"),
):
    op(
        _type,
        inputs="#true_classes:int64",
        outputs="sampled_candidates true_expected_count sampled_expected_count",
        attrs={"num_true": int, "num_sampled": int, "unique": bool, "range_max": int, **SEEDS},
        formula=f"philox_candidates('{_type[:3]}', num_sampled, unique, range_max, seed, seed2)",
        infer=_sampled,
        kernel=_kernel(MAKERS[_type]),
        state=Counter(),
        gradient=NOT_DIFFERENTIABLE,
        samples=_samples,
        doc=f"Classes drawn at random, {_law}, and how often they and the true ones are to be "
        "expected among them.",
        differs=UNSEEDED,
    )
