"""Finite differences: what the forward numbers say the gradient is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gradstep.core.autodiff.check.complex_step import measure_complex_slopes
from gradstep.core.autodiff.check.frozen_values import Evaluate, Point, evaluate_all, freeze_values
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.graph.number_kinds import kind_of

_EPS = float(np.finfo(np.float64).eps)
# Central differences in float64: truncation grows as h², rounding as 1/h, so h ~ eps^(1/3).
_STEP = _EPS ** (1 / 3)
_SWALLOWS = 1e-3 * _STEP / _EPS  # of such a value a step is few last digits
_POLE = 1e3  # times the largest slope: more is none
_DIGITS = 2.0**10  # last digits of a value, that a step has to be
_SHORTER = 16.0  # by so much shorter a step tells a kink, where the sides still part, from a bend

CENTRAL, COMPLEX = "central differences", "complex step"  # methods


@dataclass(frozen=True)
class NumericGradient:
    """Arrays of float64 shaped like the tensor; NaN in elements that were not looked at.

    value: the slope, by `method`. low, high: the smaller and the larger one-sided difference.
    kink: bool; they part there however short the step, any value between is right. noise: what
    rounding may have added to a difference. looked_at: bool.
    """

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    method: str = CENTRAL
    kink: np.ndarray = field(default_factory=lambda: np.array(False))
    noise: np.ndarray = field(default_factory=lambda: np.array(0.0))

    @property
    def looked_at(self) -> np.ndarray:
        return np.asarray(~np.isnan(self.noise))


def measure_gradients(
    evaluate: Evaluate, graph: Graph, request: GradientRequest, point: Point, most: int = 0
) -> dict[TensorRef, NumericGradient]:
    """d(sum of request.of)/dx in float64 for every x of request.wrt, at `point`; of the sum
    weighted with `grad_ys` where the request gives them.

    `point` gives the value of every tensor of `wrt` and everything else that must be fed.
    What the request (or a StopGradient) stops is held at its value, as differentiation does.
    most: look at no more elements of a tensor than that, spread evenly; 0: at all.
    """
    wide, base = freeze_values(evaluate, graph, request, point)
    wide, of = _weighted(evaluate, wide, request, base)
    return {ref: _along(evaluate, wide, of, ref, base, most) for ref in request.wrt}


def _weighted(
    evaluate: Evaluate, graph: Graph, request: GradientRequest, base: Point
) -> tuple[Graph, Sequence[TensorRef]]:
    """What has the gradient that is asked for: the tensors, or their products with what it starts
    with, which stays as it is."""
    starts = dict(zip(request.of, request.grad_ys, strict=False))
    given = {y: start for y, start in starts.items() if start is not None}
    if not given:
        return graph, request.of
    values = evaluate_all(evaluate, graph, [*given.values()], base)
    made: list[Operation] = []
    of = list(request.of)
    for number, (y, value) in enumerate(zip(given, values, strict=True)):
        kind, name = DType.of(value.dtype), f"held/grad_ys_{number}"
        attrs = {"value": Constant(np.conj(value)), "dtype": kind}
        made.append(Operation(name, "Const", attrs=attrs))
        made.append(Operation(f"{name}/product", "Mul", (y, TensorRef(name))))
        if kind.is_complex:  # the real function whose gradient starts so
            real = {"Tout": DType.FLOAT64}
            made.append(Operation(f"{name}/real", "Real", (made[-1].output(),), attrs=real))
        of[of.index(y)] = made[-1].output()
    return Graph.of([*graph, *made]), of


def _along(
    evaluate: Evaluate,
    graph: Graph,
    of: Sequence[TensorRef],
    x: TensorRef,
    base: Point,
    most: int,
) -> NumericGradient:
    center = base[x]
    elements = _chosen(center.size, most)
    differences = _Differences(evaluate, graph, of, x, base)
    with np.errstate(all="ignore"):  # at an infinity there is no slope, but NaN
        low, high, noise, kink = differences.sides(elements)
        value, method = (low + high) / 2, CENTRAL
        hidden = unseen = np.isin(elements, [*differences.hidden])
        sharp = measure_complex_slopes(evaluate, graph, of, x, base, elements)
        if sharp is not None and _same(sharp, value, noise, kink | hidden):
            unseen = hidden & ~np.isfinite(sharp)
            value, method = np.where(kink | unseen, value, sharp), COMPLEX
            # Differences that are too long, and can be no shorter, say nothing of the slope that a
            # complex step sees; at a pole that is none but what its length makes it.
            told = kink & (np.abs(sharp) <= _POLE * np.max(np.abs(value), initial=0.0))
            told |= hidden & ~unseen
            low = np.where(told, np.minimum(low, sharp), low)
            high = np.where(told, np.maximum(high, sharp), high)
        value, low, high = (np.where(unseen, np.nan, side) for side in (value, low, high))
        kink |= unseen  # there is nothing to take a slope from
    value, low, high, kink, noise = (
        _spread(part, elements, center.shape) for part in (value, low, high, kink, noise)
    )
    return NumericGradient(value, low, high, method, kink == 1, noise)


class _Differences:
    """One-sided differences of the sum of some tensors along the elements of one."""

    def __init__(
        self,
        evaluate: Evaluate,
        graph: Graph,
        of: Sequence[TensorRef],
        x: TensorRef,
        base: Point,
    ) -> None:
        self._evaluate, self._graph, self._of = evaluate, graph, of
        self._x, self._base = x, base
        self._middle = self._numbers(base)
        self.hidden: set[int] = set()  # elements of which differences would not see a slope

    def sides(
        self, elements: Sequence[int]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Smaller and larger slope, noise, and whether there is a kink, for each element."""
        found = [self._element(i) for i in elements]
        low, high, noise, kink = (np.array([f[i] for f in found], np.float64) for i in range(4))
        return low, high, noise, kink.astype(bool)

    def _element(self, i: int) -> tuple[float, float, float, bool]:
        up, down, noise = self._slopes(i, 1.0)
        low, high = min(up, down), max(up, down)
        if not np.isfinite(up + down):
            return up if np.isnan(down) else low, down if np.isnan(up) else high, noise, True
        gap, steep = high - low, max(abs(low), abs(high))
        if gap <= 1e-3 * steep + 256 * noise and not self._is_steep(steep, i):
            return low, high, noise, False
        ups, downs, more = self._slopes(i, 1 / _SHORTER)
        if max(abs(ups), abs(downs)) > 4 * steep:
            settled = self._settled(i)
            if settled is not None:
                return settled
            return min(low, 0.0), max(high, 0.0), noise, True  # a jump: the step makes the slope
        if gap > 256 * noise and abs(ups - downs) > gap / 2:
            return low, high, noise, True
        return min(ups, downs), max(ups, downs), more, False  # a bend: the shorter step is nearer

    def _settled(self, i: int) -> tuple[float, float, float, bool] | None:
        """The slope where a step is long beside what the function does, as softmax of -1e9: of the
        longest shorter step at which it is one, as it was at the step before. None for a jump."""
        least = _DIGITS * float(np.spacing(max(1.0, abs(self._base[self._x].item(i)))))
        scale, before = 1 / _SHORTER**2, math.nan
        while scale * self._step(i) > least:
            up, down, noise = self._slopes(i, scale)
            middle, slack = (up + down) / 2, 256 * noise
            close = abs(up - down) <= 1e-4 * abs(middle) + slack
            if close and abs(middle - before) <= 1e-3 * abs(middle) + slack < math.inf:
                return min(up, down), max(up, down), noise, False
            scale, before = scale / _SHORTER, middle  # of a jump the shorter step's is another
        return None

    def _is_steep(self, slope: float, i: int) -> bool:
        """Whether one step changes the result by so much that there may be a jump."""
        largest = max((float(np.max(np.abs(y), initial=0.0)) for y in self._middle), default=0.0)
        return bool(slope * self._step(i) > 1e-3 * largest)

    def _slopes(self, i: int, scale: float) -> tuple[float, float, float]:
        """To the right, to the left, and how much of either may be rounding."""
        h = scale * self._step(i)
        if not math.isfinite(h):  # from an infinity no step leads anywhere
            return math.nan, math.nan, math.inf
        up, down = self._moved(i, h), self._moved(i, -h)
        noise = _EPS * max(_changed(self._middle, up), _changed(self._middle, down)) / h
        noise = 4 * noise if np.isfinite(noise) else math.inf
        if _stays(self._middle, up, down) and self._is_in_infinity(i):
            self.hidden.add(i)
        rise, fall = _rise(self._middle, up) / h, _rise(down, self._middle) / h
        # A step that is few last digits of the value is itself rounded.
        rounded = float(np.spacing(abs(self._base[self._x].item(i)))) / h
        if np.isfinite(rise + fall) and np.isfinite(rounded):
            noise += rounded * max(abs(rise), abs(fall))
        return rise, fall, noise

    def _is_in_infinity(self, i: int) -> bool:
        """Whether an infinite value is made of this element, of which a step then shows in nothing:
        without a number there it is none."""
        if not any(bool(np.isinf(y).any()) for y in self._middle):
            return False
        there = self._moved(i, math.nan)
        pairs = zip(self._middle, there, strict=True)
        return any(bool((np.isinf(a) & np.isnan(b)).any()) for a, b in pairs)

    def _step(self, i: int) -> float:
        size: float = self._base[self._x].item(i)
        return float(_STEP * max(1.0, abs(size)))

    def _moved(self, i: int, by: float) -> Sequence[np.ndarray]:
        copy = self._base[self._x].copy()
        copy.flat[i] += by
        return self._numbers({**self._base, self._x: copy})

    def _numbers(self, point: Point) -> Sequence[np.ndarray]:
        """The tensors at `point`: truth as 0 and 1, without text."""
        values = evaluate_all(self._evaluate, self._graph, self._of, point)
        kinds = ((y, kind_of(y.dtype)) for y in values)
        return [y.astype(np.int8) if kind == "b" else y for y, kind in kinds if kind in "biufc"]


def _stays(middle: Sequence[np.ndarray], *ends: Sequence[np.ndarray]) -> bool:
    return all(
        np.array_equal(a, b, equal_nan=True)
        for end in ends
        for a, b in zip(middle, end, strict=True)
    )


def _rise(before: Sequence[np.ndarray], after: Sequence[np.ndarray]) -> float:
    # Difference first, then sum: what does not move adds no rounding, be it infinite.
    pairs = zip(before, after, strict=True)
    return float(sum(np.sum(np.where(a == b, 0.0, b - a)) for a, b in pairs))


def _changed(before: Sequence[np.ndarray], after: Sequence[np.ndarray]) -> float:
    """The sum of the magnitudes of what moved, or is so large that it could swallow the step."""
    total = 0.0
    for a, b in zip(before, after, strict=True):
        counts = (a != b) | (np.isfinite(a) & (np.abs(a) > _SWALLOWS))
        total += float(np.sum(np.where(counts, np.abs(a) + np.abs(b), 0.0)))
    return total


def _same(sharp: np.ndarray, value: np.ndarray, noise: np.ndarray, kink: np.ndarray) -> bool:
    """Whether the complex step says what the differences say, as well as these can tell."""
    scale = float(np.max(np.abs(value[~kink]), initial=0.0))
    slack = 1e-6 * np.abs(value) + 1e-7 * scale + 4 * noise + 1e-12
    return bool(np.all(kink | (np.abs(sharp - value) <= slack)))


def _chosen(size: int, most: int) -> list[int]:
    if not most or size <= most:
        return list(range(size))
    return [int(i) for i in np.unique(np.linspace(0, size - 1, most).astype(int))]


def _spread(part: np.ndarray, elements: Sequence[int], shape: tuple[int, ...]) -> np.ndarray:
    """The found values at their elements; NaN elsewhere."""
    whole = np.full(int(np.prod(shape, dtype=int)), np.nan)
    whole[list(elements)] = part
    return whole.reshape(shape)


def agree(analytic: np.ndarray | None, numeric: NumericGradient) -> np.ndarray:
    """Per element: does `analytic` (None: no gradient) lie where the numbers put it? Where these
    are none, as at an infinity, it does.

    Tolerance: 1e-3 of the larger of the two, and 1e-4 of the largest element (float32's reach).
    """
    seen = numeric.looked_at & np.isfinite(numeric.value)
    if analytic is None:
        return np.asarray(~seen | (np.abs(numeric.value) <= 1e-9) | _may_be_zero(numeric))
    value = np.asarray(analytic, np.float64)
    scale = float(np.max(np.abs(numeric.value[seen]), initial=0.0))
    slack = 1e-3 * np.maximum(np.abs(value), np.abs(numeric.value)) + 1e-4 * scale + 1e-9
    inside = (value >= numeric.low - slack) & (value <= numeric.high + slack)
    return np.asarray(~seen | inside)


def _may_be_zero(numeric: NumericGradient) -> np.ndarray:
    return np.asarray(numeric.kink & (numeric.low <= 0) & (numeric.high >= 0))
