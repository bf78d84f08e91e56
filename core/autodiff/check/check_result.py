"""The result of a gradient check at one tensor: its worst element, and the judgement of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from gradstep.core.autodiff.check.finite_differences import COMPLEX, NumericGradient
from gradstep.core.graph.number_kinds import kind_of, limits_of
from gradstep.core.ops.declare.declared_gradient import Defect

_LEAST = 1e-10  # of a slope, that differences tell
_EPS32 = float(np.finfo(np.float32).eps)


class Verdict(StrEnum):
    """In order of concern."""

    OK = "ok"
    KINK = "kink"  # one-sided differences part: any value between them is right
    FLOAT32 = (
        "float32 limit"  # right in float64; in float32, or less, off by no more than it rounds
    )
    DEFECT = "TensorFlow's"  # not what the numbers say, and known to be so in TensorFlow, too
    WRONG = "wrong"


_RANK = {verdict: rank for rank, verdict in enumerate(Verdict)}


@dataclass(frozen=True)
class CheckResult:
    """One gradient, at its worst element.

    verdict: of the whole tensor; index: where it is worst; analytic (None: no gradient), numeric,
    difference: there; method: of the numbers; looked_at, size: of its elements; text: in words;
    verdicts: of each element that was looked at; why: of a defect of TensorFlow's own, how that
    comes, and who says so; kind: the element type at whose limit an element may be.
    """

    verdict: Verdict
    index: tuple[int, ...]
    analytic: float | None
    numeric: float
    difference: float
    method: str
    looked_at: int
    size: int
    text: str
    verdicts: Mapping[tuple[int, ...], Verdict]
    why: str = ""
    kind: str = "float32"


def find_worst(findings: Iterable[CheckResult]) -> Verdict:
    """The most concerning verdict; ok where there is none."""
    return max((f.verdict for f in findings), key=_RANK.__getitem__, default=Verdict.OK)


def judge(
    analytic: np.ndarray | None,
    wide: np.ndarray | None,
    numeric: NumericGradient,
    noise: Callable[[], np.ndarray],
    short: str = "",
) -> CheckResult:
    """analytic: the gradient as the graph computes it; wide: the same in float64; noise: how far
    float32's rounding may carry it, asked for only where `analytic` and `wide` part. short: the
    element type shorter than float32 in which something on the way is held, if one is: what is
    right in float64 may overflow there, and underflow."""
    with np.errstate(all="ignore"):  # infinities and NaN are among what is judged
        return _judged(analytic, wide, numeric, noise, short)


def attribute_to(
    defect: Defect, found: CheckResult, gradient: np.ndarray | None, numeric: NumericGradient
) -> CheckResult:
    """`found`, where what is wrong is what TensorFlow gives for a reason that is known. gradient:
    the one that was judged."""
    analytic = np.zeros_like(numeric.value) if gradient is None else gradient
    shown = np.asarray(analytic, np.float64)
    ranks = _ranked(found, numeric, Verdict.DEFECT, analytic == defect.gives)
    made = _finding(None if gradient is None else shown, shown, ranks, numeric, found.kind)
    why = f"{defect.why} ({defect.source})" if Verdict.DEFECT in made.verdicts.values() else ""
    return replace(made, why=why)


def leave_out_poles(
    found: CheckResult, gradient: np.ndarray | None, numeric: NumericGradient
) -> CheckResult:
    """`found`, of a rule that is known to be right: where it gives no finite number, as 0 times an
    infinite slope, no difference can be held against it."""
    if found.verdict is not Verdict.WRONG or gradient is None:
        return found
    shown = np.asarray(gradient, np.float64)
    ranks = _ranked(found, numeric, Verdict.KINK, ~np.isfinite(shown))
    return _finding(shown, shown, ranks, numeric, found.kind)


def _ranked(
    found: CheckResult, numeric: NumericGradient, instead: Verdict, where: np.ndarray
) -> np.ndarray:
    """The rank of each element's verdict; of what is wrong, that of `instead` where `where` (bool,
    of the tensor's shape) says so."""
    ranks = np.zeros(numeric.value.shape, int)
    for index, verdict in found.verdicts.items():
        other = verdict is Verdict.WRONG and where[index]
        ranks[index] = _RANK[instead if other else verdict]
    return ranks


def _judged(
    analytic: np.ndarray | None,
    wide: np.ndarray | None,
    numeric: NumericGradient,
    noise: Callable[[], np.ndarray],
    held: str,
) -> CheckResult:
    if wide is None or analytic is None:
        shown = np.zeros_like(numeric.value)
        ranks = np.where(_right(shown, numeric), 0, _RANK[Verdict.WRONG])
        ranks = np.where(numeric.kink & _between(shown, numeric), _RANK[Verdict.KINK], ranks)
        return _finding(None, shown, ranks, numeric)
    short = _short_epsilon(analytic)
    right, kink = _right(wide, numeric, short), numeric.kink & _between(wide, numeric)
    ranks = np.where(kink, _RANK[Verdict.KINK], np.where(right, 0, _RANK[Verdict.WRONG]))
    shown = np.asarray(analytic, np.float64)
    off = numeric.looked_at & (right | kink) & ~_close(shown, wide)
    if off.any() and held:
        ranks = np.where(off, _RANK[Verdict.FLOAT32], ranks)
    elif off.any():
        explained = _explained(shown, wide, noise(), short)
        rounded = np.where(explained, _RANK[Verdict.FLOAT32], _RANK[Verdict.WRONG])
        ranks = np.where(off, rounded, ranks)
    kind = held or (analytic.dtype.name if short else "float32")
    return _finding(shown, shown, ranks, numeric, kind)


def _tolerance(value: np.ndarray, numeric: NumericGradient) -> np.ndarray:
    """How far a right gradient in float64 may be from the numbers."""
    seen = numeric.value[numeric.looked_at & ~numeric.kink]
    scale = float(np.max(np.abs(seen), initial=0.0))
    larger = np.maximum(np.abs(value), np.abs(numeric.value))
    rounding = (8 if numeric.method == COMPLEX else 64) * numeric.noise
    return np.asarray(1e-5 * larger + 1e-6 * scale + rounding + _LEAST)


def _short_epsilon(analytic: np.ndarray) -> float:
    """ε of an element type shorter than float32, in which the numbers that a rule multiplies by
    (1/15, of a mean) are rounded themselves; 0 for others."""
    short = analytic.itemsize < 4 and kind_of(analytic.dtype) == "f"
    return float(limits_of(analytic.dtype).eps) if short else 0.0


def _right(value: np.ndarray, numeric: NumericGradient, short: float = 0.0) -> np.ndarray:
    slack = _tolerance(value, numeric) + short * np.abs(numeric.value)
    near = np.abs(value - numeric.value) <= slack
    # An infinity is its own slack.
    return np.asarray(near & (np.isfinite(value) | ~np.isfinite(numeric.noise)))


def _between(value: np.ndarray, numeric: NumericGradient) -> np.ndarray:
    """Within the one-sided slopes; where one of them is no number, there is nothing to say."""
    slack = _tolerance(value, numeric)
    inside = (value >= numeric.low - slack) & (value <= numeric.high + slack)
    return np.asarray(inside | ~np.isfinite(numeric.value))


def _close(value: np.ndarray, wide: np.ndarray) -> np.ndarray:
    """As near as arithmetic in float32 mostly is."""
    scale = float(np.max(np.abs(wide[np.isfinite(wide)]), initial=0.0))
    slack = 1e-3 * np.abs(wide) + 1e-5 * scale + 1e-30
    same = (value == wide) | (np.isnan(value) & np.isnan(wide))
    return np.asarray(same | (np.abs(value - wide) <= slack))


def _explained(value: np.ndarray, wide: np.ndarray, noise: np.ndarray, short: float) -> np.ndarray:
    overflow = ~np.isfinite(value) & np.isfinite(wide)
    backward = max(64 * _EPS32, 4 * short)  # roundings on the way back, which are no noise
    return np.asarray(overflow | (np.abs(value - wide) <= noise + backward * np.abs(wide)))


def _finding(
    analytic: np.ndarray | None,
    shown: np.ndarray,
    ranks: np.ndarray,
    numeric: NumericGradient,
    kind: str = "float32",
) -> CheckResult:
    seen = numeric.looked_at
    size, count = int(seen.size), int(seen.sum())
    if not count:
        return CheckResult(
            Verdict.OK, (), None, 0.0, 0.0, numeric.method, 0, size, "no elements", {}
        )
    ranks = np.where(seen, ranks, -1)
    off = np.abs(shown - numeric.value)
    off = np.where(ranks == ranks.max(), np.nan_to_num(off, nan=np.inf), -1.0)
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(off)), off.shape))
    verdict = tuple(Verdict)[int(ranks.max())]
    value = None if analytic is None else float(analytic[index])
    slope = float(numeric.value[index])
    difference = abs((value or 0.0) - slope)
    return CheckResult(
        verdict,
        index,
        value,
        slope,
        difference,
        numeric.method,
        count,
        size,
        _words(verdict, index, value, difference, numeric, kind, _largest(shown, numeric)),
        {at: tuple(Verdict)[int(ranks[at])] for at in np.ndindex(seen.shape) if seen[at]},
        kind=kind,
    )


def _largest(shown: np.ndarray, numeric: NumericGradient) -> float:
    """Of what was looked at, of either gradient."""
    seen = numeric.looked_at
    return max(float(np.max(np.abs(a[seen]), initial=0.0)) for a in (shown, numeric.value))


def _words(
    verdict: Verdict,
    index: tuple[int, ...],
    value: float | None,
    difference: float,
    numeric: NumericGradient,
    kind: str,
    largest: float,
) -> str:
    place = f" at index {list(index)}" if index else ""
    low, high, slope = (float(a[index]) for a in (numeric.low, numeric.high, numeric.value))
    shown = "None" if value is None else f"{value:.6g}"
    if verdict is Verdict.KINK and not np.isfinite(value or 0.0) and np.isfinite(slope):
        return f"{shown}{place}, of which differences say nothing"
    if verdict is Verdict.KINK:
        if not np.isfinite(slope):
            return f"a kink{place}: there are no values on both sides to take a slope from"
        return f"a kink{place}: the slope is {low:.6g} on one side and {high:.6g} on the other"
    if verdict is Verdict.FLOAT32:
        off = f"off by {difference:.3g}" if np.isfinite(difference) else shown
        off = "0" if value == 0 else off
        return f"{kind}'s limit{place}: right in float64, and {off} in {kind}"
    if verdict in (Verdict.WRONG, Verdict.DEFECT):
        word = "wrong" if verdict is Verdict.WRONG else "a defect of TensorFlow's own"
        return f"{word}{place}: {shown}, but {slope:.6g} by {numeric.method}"
    if 0 < largest < _LEAST:
        return f"too small to tell: at most {largest:.2g}, and differences tell {_LEAST:.0e}"
    return f"right by {numeric.method}"
