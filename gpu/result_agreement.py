"""Whether two results of one operation agree, and if not, whether it made the difference itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gradstep.core.graph.loop import loop_of, within
from gradstep.core.graph.model import Operation
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.ops.declare.arithmetic_class import Arithmetic
from gradstep.core.ops.declare.system_rules import Rules
from gradstep.core.ops.declare.table import lookup
from gradstep.core.protocol.vocabulary import ComparedVerdict
from gradstep.gpu.device_run import UNAVAILABLE, Outcome
from gradstep.gpu.emulation import flush_subnormals, flushes
from gradstep.gpu.lockstep import Turn
from gradstep.gpu.running_error import error_bounds
from gradstep.gpu.sum_terms import magnitudes
from gradstep.gpu.tensor_distance import identical, measure, scaled_error
from gradstep.gpu.tolerances import BIT_EQUAL, SCALED, Tolerance, tolerance, with_inherited

Allowed = Callable[[np.dtype], Tolerance]

_FRACTION = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?|-?inf|nan")
_ORDER = ("equal", "close", "differs")
_ROOMIER: tuple[Arithmetic, ...] = ("exact", "rounded", "library", "reducing", "product")


@dataclass(frozen=True)
class Verdict:
    """verdict: as in messages.ComparedNode. output: the one that shows it most, with its metrics.
    differs: it is not the same on both, beyond rounding; where both fail, that they fail in two
    ways. creates: the operation parts the devices by itself, on equal inputs, beyond its
    tolerance."""

    verdict: ComparedVerdict
    output: int = 0
    metrics: dict[str, float] = field(default_factory=dict)
    differs: bool = False
    creates: bool = False


def verdict_on(turn: Turn, rules: Sequence[Rules]) -> Verdict:
    """The verdict on one turn. rules: those of both devices."""
    arithmetic = _arithmetic(turn.op)
    tf32 = any(r.tf32 for r in rules)
    repeats = loop_of(turn.op) is not None and arithmetic != "exact"

    flushed = any(flushes(r, lookup(turn.op.type, turn.op.name)) for r in rules)
    sizes = () if _all_identical(turn) else _sizes(turn, arithmetic, rules[-1])
    is_bounded = arithmetic == "library" and bool(sizes)

    def own(dtype: np.dtype) -> Tolerance:
        once = tolerance(arithmetic, dtype, tf32)
        if is_bounded:
            once = replace(once, scaled=SCALED)
        if flushed and once == BIT_EQUAL:
            once = replace(once, flushed=True, why="bit-equal, but for subnormals")
        return with_inherited(once, dtype) if repeats else once

    def inherited(dtype: np.dtype) -> Tolerance:
        return with_inherited(own(dtype), dtype)

    alone = _between(turn.left, turn.isolated, inherited if turn.bound else own, sizes)
    creates = alone.verdict == "differs" or _fails_otherwise(turn.left, turn.isolated)
    allowed = own if creates and not turn.bound else inherited
    found = _between(turn.left, turn.right, allowed, sizes, turn.reference)
    apart = found.verdict == "differs" or _fails_otherwise(turn.left, turn.right)
    return replace(found, differs=apart or creates, creates=creates)


def _sizes(turn: Turn, arithmetic: Arithmetic, rules: Rules) -> Sequence[np.ndarray]:
    """Of its outputs, the first at least, what differences are measured in; of none where that is
    not known."""
    if arithmetic == "library":
        return error_bounds(turn.op, turn.inputs)
    summed = magnitudes(turn.op, turn.inputs, rules)
    return () if summed is None else (summed,)


def _arithmetic(op: Operation) -> Arithmetic:
    """That of the operation; of a loop, that which leaves most room of all that is in it."""
    kinds = (lookup(inner.type, inner.name).arithmetic for inner in within([op]))
    return max(kinds, key=_ROOMIER.index)


def _between(
    left: Outcome,
    right: Outcome,
    allowed: Allowed,
    sizes: Sequence[np.ndarray],
    reference: Outcome = UNAVAILABLE,
) -> Verdict:
    if left.error is not None or right.error is not None:
        return Verdict("raises")
    if not (left.available and right.available):
        return Verdict("unavailable")
    if left.dead or right.dead:
        return Verdict("dead" if left.dead and right.dead else "differs")
    found = [
        _of_output(i, a, b, allowed, _at(sizes, i), _at(reference.outputs, i))
        for i, (a, b) in enumerate(zip(left.outputs, right.outputs, strict=False))
    ]
    if len(left.outputs) != len(right.outputs):
        return Verdict("differs")
    return max(found, key=lambda v: _ORDER.index(v.verdict), default=Verdict("equal"))


def _of_output(
    index: int,
    left: np.ndarray,
    right: np.ndarray,
    allowed: Allowed,
    sizes: np.ndarray | None,
    reference: np.ndarray | None,
) -> Verdict:
    if left.shape != right.shape or left.dtype != right.dtype:
        return Verdict("differs", index)
    if kind_of(left.dtype) == "O" and _words(left) == _words(right):
        left, right, reference = _fractions(left), _fractions(right), None
    metrics = measure(left, right, reference)
    if not metrics:
        return Verdict("equal" if np.array_equal(left, right) else "differs", index)
    if metrics["equal"] == 1.0:
        return Verdict("equal", index, metrics)
    if sizes is not None and kind_of(left.dtype) in "fc" and _fits(sizes, left):
        metrics["scaled"] = scaled_error(left, right, sizes)
    room = allowed(left.dtype)
    metrics["share"] = _share(metrics, room)
    close = _is_close(left, right, metrics, room)
    return Verdict("close" if close else "differs", index, metrics)


def _words(state: np.ndarray) -> str:
    """What is said of state, without the fractions in it."""
    return _FRACTION.sub("", str(state))


def _fractions(state: np.ndarray) -> np.ndarray:
    """The fractions in what is said of state, which are those of arrays in it."""
    return np.array(_FRACTION.findall(str(state)), np.float32)


def _is_close(
    left: np.ndarray, right: np.ndarray, metrics: dict[str, float], allowed: Tolerance
) -> bool:
    if metrics["nan_mismatches"]:
        return False
    if allowed.flushed and identical(flush_subnormals(left), flush_subnormals(right)).all():
        return True
    # What is not equal is at a distance, so that a tolerance of 0 allows nothing.
    return metrics["rel_l2"] <= allowed.rel_l2 or (
        0 < metrics.get("scaled", np.inf) <= allowed.scaled
    )


def _share(metrics: dict[str, float], allowed: Tolerance) -> float:
    """How much of what is allowed a difference takes, by the measure that takes less; infinite
    where nothing is."""
    if metrics["nan_mismatches"]:
        return np.inf
    pairs = ((metrics["rel_l2"], allowed.rel_l2), (metrics.get("scaled", np.inf), allowed.scaled))
    return min((found / room for found, room in pairs if room), default=np.inf)


def _fails_otherwise(left: Outcome, right: Outcome) -> bool:
    """Whether just one fails, or both do, but in two ways."""
    if not (left.available and right.available):
        return False
    return _failure(left) != _failure(right)


def _failure(outcome: Outcome) -> tuple[str, tuple[int, ...] | None] | None:
    error = outcome.error
    return None if error is None else (error.kind, error.index)


def _all_identical(turn: Turn) -> bool:
    pairs = [
        (a, b)
        for other in (turn.right, turn.isolated)
        for a, b in zip(turn.left.outputs, other.outputs, strict=False)
    ]
    return all(a.shape == b.shape and bool(identical(a, b).all()) for a, b in pairs)


def _fits(sizes: np.ndarray, array: np.ndarray) -> bool:
    return sizes.shape == array.shape


def _at(arrays: Sequence[np.ndarray], index: int) -> np.ndarray | None:
    return arrays[index] if index < len(arrays) else None
