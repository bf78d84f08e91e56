"""Classes drawn at random for the losses of many classes: sampled softmax, noise contrast."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.graph.model import Operation
from gradstep.core.ops.catalogue.state.random_tensors import SEEDS, UNSEEDED
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.host_arrays import integer, on_host
from gradstep.core.ops.declare.op_state import Counter
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import want_rank
from gradstep.core.ops.numerics.candidate_draws import (
    MAKERS,
    RESERVED,
    FixedUnigramSampler,
    Sampler,
    UnigramSampler,
    draw_classes,
    expected_counts,
)
from gradstep.core.ops.numerics.philox import seeds_of

_COUNTED = {"num_true": int, "num_sampled": int, "unique": bool}
_OF_RANGE = {**_COUNTED, "range_max": int, **SEEDS}
_MOST_COUNTED = 1 << 27  # classes of a learned sampler, whose counts are 1 GiB
_OUTPUTS = "sampled_candidates true_expected_count sampled_expected_count"


def _sampled(ctx: InferContext) -> tuple[TensorType, ...]:
    count, classes = ctx.attr("num_sampled"), ctx.attr("range_max")
    if count < 1 or classes < 1:
        raise ctx.fail(f"num_sampled is {count} and range_max {classes}: both must be at least 1")
    if ctx.attr("unique") and count > classes:
        raise ctx.fail(
            f"Sampler's range is too small: {count} of {classes} cannot all be different.",
            hint="draw fewer, or set unique to false",
        )
    return _types(ctx)


def _types(ctx: InferContext) -> tuple[TensorType, ...]:
    want_rank(ctx, 0, 2)
    if ctx.attr("num_sampled") < 1:
        raise ctx.fail(f"num_sampled is {ctx.attr('num_sampled')}, which must be at least 1")
    dims = ctx.types[0].shape.dims or (None, None)
    counts = TensorType(DType.FLOAT32, Shape((dims[0], ctx.attr("num_true"))))
    drawn = Shape((ctx.attr("num_sampled"),))
    return TensorType(DType.INT64, drawn), counts, TensorType(DType.FLOAT32, drawn)


def _of_learned(ctx: InferContext) -> tuple[TensorType, ...]:
    if ctx.attr("range_max") > _MOST_COUNTED:
        raise ctx.fail(
            f"range_max is {ctx.attr('range_max')}: at most {_MOST_COUNTED} classes are counted",
            hint="make it smaller, or draw by a LogUniformCandidateSampler",
        )
    return _sampled(ctx)


def _counts(op: Operation) -> int:
    """Numbers that a learned sampler keeps."""
    classes = op.attrs.get("range_max")
    return 1 + classes if isinstance(classes, int) and 0 < classes <= _MOST_COUNTED else 1


def _of_unigrams(ctx: InferContext) -> tuple[TensorType, ...]:
    if ctx.attr("vocab_file"):
        raise ctx.fail(
            f"it draws by the file '{ctx.attr('vocab_file'):.80}', which is not read here",
            hint="give it the numbers in that file, as the attribute unigrams",
        )
    reserved, own = _own_words(ctx.attr)
    classes, there = ctx.attr("range_max"), reserved + len(own)
    if classes != there:
        raise ctx.fail(f"range is {classes} must be equal to weights size {there}")
    drawn, count = int(np.count_nonzero(_weights(ctx.attr) > 0)), ctx.attr("num_sampled")
    if ctx.attr("unique") and count > drawn:
        raise ctx.fail(
            f"{count} different classes cannot be drawn: {drawn} have a weight above 0",
            hint="draw fewer, or set unique to false",
        )
    return _sampled(ctx)


def _own_words(attr: Callable[[str], Any]) -> tuple[int, range]:
    """Of the words of a FixedUnigramCandidateSampler those in its shard: how many reserved ones,
    and the places of given ones. TensorFlow counts on from the reserved ones of the shard."""
    shards, shard = attr("num_shards"), attr("shard")
    if not 0 <= shard < shards:
        return 0, range(0)
    reserved = len(range(shard, attr("num_reserved_ids"), shards))
    return reserved, range((shard - reserved) % shards, len(attr("unigrams")), shards)


def _weights(attr: Callable[[str], Any]) -> np.ndarray:
    """Of the classes of a FixedUnigramCandidateSampler, float32: the reserved ones first, which are
    never drawn."""
    reserved, own = _own_words(attr)
    with np.errstate(all="ignore"):
        given = np.array(attr("unigrams"), np.float32) ** np.float32(attr("distortion"))
    return np.concatenate([np.zeros(reserved, np.float32), given[own.start : own.stop : own.step]])


def _require_classes(true_classes: Any, num_true: int, range_max: int) -> np.ndarray:
    """On the host. Raises GradstepError for those that are none."""
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise GradstepError("true_classes must have num_true columns")
    classes = on_host(true_classes)
    if odd := classes[(classes < 0) | (classes >= range_max)].tolist():
        raise GradstepError(
            f"`true_candidate` out of range [0, {range_max}), received {odd[0]}",
            hint="feed classes that there are, or make range_max as large as there are classes",
        )
    return classes


def _drawn(
    op: Operation, ends: tuple[Sampler, int], true_classes: Any, counter: int, attrs: Any
) -> tuple[np.ndarray, ...]:
    """Classes of a sampler in a range, and how often these and the true ones are expected."""
    sampler, range_max = ends
    classes = _require_classes(true_classes, attrs["num_true"], range_max)
    seeds, count = seeds_of(attrs["seed"], attrs["seed2"], op.name), attrs["num_sampled"]
    found, tries = draw_classes(sampler, seeds, counter, count, attrs["unique"])
    return found, *(expected_counts(sampler, each, count, tries) for each in (classes, found))


def _kernel(make: Callable[[int], Sampler]) -> Callable[..., Any]:
    def kernel(
        xp: Any, true_classes: Any, counter: Any, *, op: Operation, range_max: int,
        num_true: int, num_sampled: int, unique: bool, seed: int, seed2: int,
    ) -> tuple[Any, ...]:  # fmt: skip
        attrs = _attrs(num_true, num_sampled, unique, seed, seed2)
        made = _drawn(op, (make(range_max), range_max), true_classes, integer(counter), attrs)
        return (*map(xp.asarray, made), counter + RESERVED * num_sampled)

    return kernel


def _fixed(
    xp: Any, true_classes: Any, counter: Any, *, op: Operation, range_max: int, num_true: int,
    num_sampled: int, unique: bool, seed: int, seed2: int, unigrams: Any, distortion: float,
    num_reserved_ids: int, num_shards: int, shard: int,
) -> tuple[Any, ...]:  # fmt: skip
    sampler = _fixed_sampler(unigrams, distortion, num_reserved_ids, num_shards, shard)
    attrs = _attrs(num_true, num_sampled, unique, seed, seed2)
    made = _drawn(op, (sampler, range_max), true_classes, integer(counter), attrs)
    return (*map(xp.asarray, made), counter + RESERVED * num_sampled)


@lru_cache(maxsize=8)
def _fixed_sampler(
    unigrams: tuple[float, ...], distortion: float, num_reserved_ids: int, num_shards: int,
    shard: int,
) -> FixedUnigramSampler:  # fmt: skip
    """Once for all runs: its table is made in Python, word by word."""
    given = {"unigrams": unigrams, "distortion": distortion, "num_reserved_ids": num_reserved_ids}
    return FixedUnigramSampler(
        _weights({**given, "num_shards": num_shards, "shard": shard}.__getitem__)
    )


def _learned(
    xp: Any, true_classes: Any, counter: Any, *, op: Operation, range_max: int, num_true: int,
    num_sampled: int, unique: bool, seed: int, seed2: int,
) -> tuple[Any, ...]:  # fmt: skip
    """Behind the number of the stream, the counter has how often each class has been a true one."""
    attrs = _attrs(num_true, num_sampled, unique, seed, seed2)
    ends = UnigramSampler(counter[1:] + 1), range_max
    made = _drawn(op, ends, true_classes, int(counter[0]), attrs)
    after = counter.copy()
    after[0] += RESERVED * num_sampled
    np.add.at(after, on_host(true_classes).ravel() + 1, 1)
    return (*map(xp.asarray, made), after)


def _all(
    xp: Any, true_classes: Any, *, num_true: int, num_sampled: int
) -> tuple[Any, ...]:  # fmt: skip
    classes = _require_classes(true_classes, num_true, num_sampled)
    found = np.arange(num_sampled, dtype=np.int64)
    ones = (np.ones(each.shape, np.float32) for each in (classes, found))
    return tuple(map(xp.asarray, (found, *ones)))


def _attrs(num_true: int, num_sampled: int, unique: bool, seed: int, seed2: int) -> dict[str, Any]:
    return {
        "num_true": num_true, "num_sampled": num_sampled, "unique": unique,
        "seed": seed, "seed2": seed2,
    }  # fmt: skip


def _samples(rng: np.random.Generator) -> list[Sample]:
    attrs = {"num_true": 2, "seed": 5, "seed2": 6}
    classes = np.array([[0, 3], [9, 1], [2, 2]], np.int64)
    return [
        Sample((classes,), {**attrs, "num_sampled": 4, "unique": True, "range_max": 10}),
        Sample((classes,), {**attrs, "num_sampled": 5, "unique": False, "range_max": 16}),
        Sample((classes,), {**attrs, "num_sampled": 300, "unique": True, "range_max": 1000}),
    ]


def _samples_of_unigrams(rng: np.random.Generator) -> list[Sample]:
    some = {"unigrams": (5.0, 1.0, 0.5, 7.0, 2.5, 0.1, 3.0, 3.0, 0.25, 4.0), "distortion": 0.75}
    first, second, _ = _samples(rng)
    reserved = {"num_reserved_ids": 6}
    return [
        Sample(first.inputs, {**first.attrs, **some}),
        Sample(second.inputs, {**second.attrs, **some, **reserved}),
    ]


def _samples_of_all(rng: np.random.Generator) -> list[Sample]:
    classes = np.array([[0, 3], [9, 1], [2, 2]], np.int64)
    return [Sample((classes,), {"num_true": 2, "num_sampled": 10, "unique": True})]


for _type, _law in (
    ("UniformCandidateSampler", "all alike"),
    ("LogUniformCandidateSampler", "by Zipf's law, as words sorted by how often they come"),
):
    op(
        _type,
        inputs="#true_classes:int64",
        outputs=_OUTPUTS,
        attrs=_OF_RANGE,
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

op(
    "FixedUnigramCandidateSampler",
    inputs="#true_classes:int64",
    outputs=_OUTPUTS,
    attrs={
        **_OF_RANGE, "vocab_file": "", "distortion": 1.0, "num_reserved_ids": 0, "num_shards": 1,
        "shard": 0, "unigrams": (),
    },
    formula="philox_unigrams(num_sampled, unique, unigrams, distortion, num_reserved_ids, "
    "seed, seed2)",
    infer=_of_unigrams,
    kernel=_fixed,
    state=Counter(),
    gradient=NOT_DIFFERENTIABLE,
    samples=_samples_of_unigrams,
    doc="Classes drawn at random by the weights `unigrams`, each raised to `distortion`, and how "
    "often they and the true ones are to be expected among them.",
    differs=f"{UNSEEDED} The weights in a `vocab_file` are not read.",
)  # fmt: skip

for _type in ("LearnedUnigramCandidateSampler", "ThreadUnsafeUnigramCandidateSampler"):
    op(
        _type,
        inputs="#true_classes:int64",
        outputs=_OUTPUTS,
        attrs=_OF_RANGE,
        formula="philox_candidates('Lea', num_sampled, unique, range_max, seed, seed2)",
        infer=_of_learned,
        kernel=_learned,
        state=Counter(_counts),
        gradient=NOT_DIFFERENTIABLE,
        samples=_samples,
        doc="Classes drawn at random, by how often each has been a true one in the runs before, "
        "and once more; and how often they and the true ones are to be expected among them.",
        differs=UNSEEDED,
    )

op(
    "AllCandidateSampler",
    inputs="#true_classes:int64",
    outputs=_OUTPUTS,
    attrs={**_COUNTED, **SEEDS},
    formula="arange(num_sampled)",
    infer=_types,
    kernel=_all,
    gradient=NOT_DIFFERENTIABLE,
    samples=_samples_of_all,
    doc="All classes, once each.",
)
