"""How far down a step goes: what happens on F10 can be read in one sitting."""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.io.native.gradstep_file import load
from gradstep.core.program.derive import derive
from gradstep.core.program.trust.example_index import EXAMPLES

MOST = 9  # calls within each other, that of the session included
WARM = 30  # moves before: what is found out once is not the step


def session_of(example: str) -> DebugSession:
    return DebugSession(derive(load(EXAMPLES / f"{example}.gradstep"), trusted=True))


def depth_of(session: DebugSession, move: str) -> list[str]:
    """The longest chain of calls that a move makes, by their names."""
    deepest: list[str] = []
    here = sys._getframe()

    def note(frame: FrameType, event: str, _: object) -> None:
        nonlocal deepest
        if event == "call":
            chain, at = [], frame
            while at is not here and at.f_back is not None:
                chain.append(at.f_code.co_qualname)
                at = at.f_back
            deepest = max(deepest, chain, key=len)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        session.command(move)
    finally:
        sys.setprofile(before)
    return deepest[::-1]


def place_of(session: DebugSession) -> tuple[int, ...]:
    """The run and the iterations that it stands in."""
    return (session.stop.run, *(place.iteration for place in session.stop.inside))


def go_into_loop(session: DebugSession) -> None:
    while not session.stop.inside:
        session.command("step_into")


def warm(session: DebugSession) -> None:
    """Make each move, so that the plan knows what it finds out once."""
    for move in ("step", "step", "step_back", "step_into", "step_back", "step_into"):
        session.command(move)


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("move", ["step", "step_into", "step_back"])
def test_a_step_is_few_calls_deep(move: str, inside: bool) -> None:
    session = session_of("while_loop" if inside else "tutorial")
    warm(session)
    if inside:
        go_into_loop(session)
        warm(session)
    seen = 0
    for _ in range(WARM):
        before = place_of(session)
        chain = depth_of(session, move)
        if place_of(session) == before:  # another iteration or run to begin is more than a step
            seen += 1
            assert len(chain) <= MOST, "\n".join(chain)
        if move not in session.stop.legal:
            session.command("step_into")
    assert seen > 5
