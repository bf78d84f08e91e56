"""Whatever way one takes through loops and branches, a position is what it is, and breakpoints stop
where single steps come by."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.graph.loop import within
from tests.support.drawn_share import share
from tests.support.looping import branched, nested, places, position, power, seen, session

MOVES = ("step", "step_into", "step_out", "step_back", "continue_", "reverse_continue")
PROGRAMS = st.sampled_from([power, nested, branched])


@settings(max_examples=share(25))
@given(PROGRAMS, st.integers(0, 3), st.integers(0, 60), st.lists(st.sampled_from(MOVES)))
@pytest.mark.slow
def test_a_position_shows_the_same_by_whatever_way_one_came(
    build: Any, n: int, into: int, moves: list[str]
) -> None:
    found = session(build, n)
    for move in [*["step_into"] * into, *moves]:
        if move in found.stop.legal:
            found.command(move)
    stop, other = found.stop, session(build, n)
    other.run_to(position(stop))
    assert places(other.stop) == places(stop)
    assert (other.stop.op, other.stop.legal) == (stop.op, stop.legal)
    plain = [op.name for op in within(found.plan.graph) if op.type not in ("Switch", "While")]
    assert seen(other, *plain) == seen(found, *plain)


def walked(build: Any, n: int) -> list[tuple[str, str]]:
    """Of two runs, step by step and into every loop: the position, and of what type the operation
    is that comes next, if one does that runs."""
    walk, way = session(build, n), []
    while walk.stop.run < 2:
        op = walk.next_op
        runs = op is not None and not walk.frame().skips(op.name)
        way.append((position(walk.stop), op.type if op and runs else ""))
        walk.step_into()
    return way


class Hits:
    """Of breakpoints, as numbers of positions on a way."""

    def __init__(self, way: list[tuple[str, str]], breakpoints: list[Breakpoint]) -> None:
        self.way, self.at = way, {b: set[int]() for b in breakpoints}

    def stops(self, number: int) -> bool:
        for breakpoint, hits in self.at.items():
            if breakpoint.target == self.way[number][1]:
                hits.add(number)
                if sum(hit <= number for hit in hits) >= breakpoint.hits:
                    return True
        return False


@given(
    PROGRAMS,
    st.integers(0, 3),
    st.lists(st.tuples(st.sampled_from(["Mul", "AddV2", "Less", "Merge"]), st.integers(1, 3))),
    st.lists(st.tuples(st.integers(0, 150), st.booleans()), max_size=8),
)
@pytest.mark.slow
def test_breakpoints_stop_where_steps_come_by(
    build: Any, n: int, types: list[tuple[str, int]], moves: list[tuple[int, bool]]
) -> None:
    """moves: from which position (a number that is none: where the session stands), and whether to
    continue in reverse."""
    way = walked(build, n)
    runs = [place.partition(":")[0] for place, _ in way]
    ends = [i for i, (run, next) in enumerate(pairwise([*runs, ""])) if run != next]
    begins = [0, *(end + 1 for end in ends[:-1])]
    made = [Breakpoint(type, BreakpointKind.TYPE, hits=hits) for type, hits in dict(types).items()]
    found, hits, at = session(build, n), Hits(way, made), 0
    found.set_breakpoints(made)
    for start, reverse in moves:
        if start < len(way):
            at = start
            found.run_to(way[at][0])
        if reverse and at > 0:
            begin = max(i for i in begins if i < at)
            at = next((i for i in range(at - 1, begin, -1) if hits.stops(i)), begin)
            assert position(found.reverse_continue()) == way[at][0]
        elif not reverse and at < ends[-1]:
            end = next(i for i in ends if i > at)
            at = next((i for i in range(at + 1, end) if hits.stops(i)), end)
            assert position(found.continue_()) == way[at][0]
