"""What is in loops, held against a recorded run: of each tensor the iteration that tells most.

That is the first, as the program runs, that makes a difference by itself; else the first that
differs; else the one that is furthest off. All of them are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.checks.gradients.gradient_scale import GradientScales
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.recorded_run import RecordedRun
from gradstep.core.engine.backend import Backend
from gradstep.core.graph.loop import graph_around, way_to
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.protocol.messages import ComparedNode
from gradstep.gpu.isolated_iterations import IsolatedIterations
from gradstep.gpu.own_iterations import OwnIterations, Place
from gradstep.gpu.recorded_rows import Pair, RecordedRows
from gradstep.gpu.tensor_distance import distance


@dataclass(frozen=True)
class _Series:
    """A tensor in loops, with what was recorded of it: when it was computed (which iterations, and
    which time that was), and what it was each time. of: where it is a gradient, whose."""

    ref: TensorRef
    times: dict[Place, int]
    wanted: np.ndarray
    of: TensorRef | None = None

    def at(self, place: Place) -> np.ndarray | None:
        time = self.times.get(place)
        return None if time is None else self.wanted[time]

    @property
    def in_order(self) -> list[Place]:
        """As the program runs: gradients come back from the last."""
        places = [*self.times]
        return places if self.of is None else places[::-1]


class RecordedLoops:
    """outside: what was recorded of tensors outside of loops, their gradients included."""

    def __init__(
        self,
        program: Program,
        recorded: RecordedRun,
        backend: Backend,
        outside: dict[TensorRef, np.ndarray],
        gradients: bool,
    ) -> None:
        self._program, self._recorded = program, recorded
        self._rows = RecordedRows(program, recorded)
        self._series = {one.ref: one for one in self._all(gradients)}
        self._outside = outside
        self._own = OwnIterations(program, backend)
        inside = {op.name for one in self._series for op in self._own.way(one)}
        about = self._known, self._own, inside.__contains__
        self._isolated = IsolatedIterations(program, backend, *about)
        self._scales: dict[tuple[tuple[str, ...], Place], GradientScales] = {}

    def rows(self) -> Iterator[tuple[str, ComparedNode]]:
        """In the order of the run, each with the loop that it is in, the outermost one."""
        found = []
        for series in filter(lambda one: self._own.computes(one.ref), self._series.values()):
            check_cancelled()
            place, row = self._row(series)
            way = self._own.way(series.ref)
            at = place if row.differs else next(iter(series.times))
            found.append((way[0].name, self._order(series, at), row))
        found.sort(key=lambda each: each[:2])
        yield from ((name, row) for name, _, row in found)

    def isolated(self, ref: TensorRef) -> np.ndarray | None:
        """What a tensor outside of loops is by the recorded values right before it, those of the
        iterations before it included; None where that cannot be told."""
        return self._isolated.value(ref, ())

    def _all(self, gradients: bool) -> Iterator[_Series]:
        for name, kept in self._recorded.iterations.items():
            ref = TensorRef.parse(name)
            way = way_to(self._program.forward, ref.op)
            times = {tuple(map(int, row)): time for time, row in enumerate(kept.places.array)}
            if not way or any(len(place) != len(way) for place in times) or not times:
                continue  # it was taken out of the loop since
            yield _Series(ref, times, kept.values.array)
            holder = self._program.gradients.get(ref) if gradients else None
            if kept.gradients is not None and holder is not None:
                yield _Series(holder, times, kept.gradients.array, ref)

    def _known(self, ref: TensorRef, place: Place) -> np.ndarray | None:
        if not place:
            return self._outside.get(ref)
        series = self._series.get(ref)
        return None if series is None else series.at(place)

    def _row(self, series: _Series) -> tuple[Place, ComparedNode]:
        """Of the iteration that tells most, and which that is."""
        first, worst = None, (-1.0, series.in_order[0])
        for place in series.in_order:
            pair, left = self._pair(series, place), self._own.value(series.ref, place)
            if left is None or self._rows.differs(pair, left):
                row = self._at(series, place)
                if row.creates:
                    return place, row
                first = first or (place, row)
            else:
                worst = max(worst, (distance(left, pair.wanted) or 0.0, place))
        return first or (worst[1], self._at(series, worst[1]))

    def _at(self, series: _Series, place: Place) -> ComparedNode:
        pair, left = self._pair(series, place), self._own.value(series.ref, place)
        text = f"iteration {', '.join(str(number + 1) for number in place)}"
        if left is None:
            return self._rows.missing(pair, "not computed in this iteration", False, text)
        return self._rows.row(pair, left, self._isolated.value(series.ref, place), text)

    def _pair(self, series: _Series, place: Place) -> Pair:
        wanted = series.at(place)
        assert wanted is not None
        scale = 0.0 if series.of is None else self._scale(series.of, place)
        return Pair(series.ref, wanted, series.of, scale)

    def _scale(self, ref: TensorRef, place: Place) -> float:
        """Of the gradients around it in the same iteration."""
        way = tuple(op.name for op in self._own.way(ref))
        if (way, place) not in self._scales:
            graph = graph_around(self._program.forward, ref.op)
            there = {
                name: Constant(kept.gradients.array[time])
                for name, kept in self._recorded.iterations.items()
                if kept.gradients is not None
                and TensorRef.parse(name).op in graph
                and (time := kept.time(place)) is not None
            }
            only = replace(self._recorded, gradients=there)
            self._scales[way, place] = GradientScales(graph, only)
        return self._scales[way, place].of(ref)

    def _order(self, series: _Series, place: Place) -> tuple[int, ...]:
        """Where in the run: iteration and place in it of each loop inside the one around, from the
        outermost on."""
        way = self._own.way(series.ref)
        inside = [*(op.name for op in way[1:]), series.ref.op]
        numbers = [-n for n in place] if series.of is not None else place
        places = (graph_around(self._program.graph, one).places[one] for one in inside)
        return tuple(x for pair in zip(numbers, places, strict=True) for x in pair)
