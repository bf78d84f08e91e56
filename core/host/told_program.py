"""What the window was told of the program last, so that after an edit it is told what changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import structs

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.plan.steps import Step
from gradstep.core.garbage_collection import collector_paused
from gradstep.core.host.program_reports import program_info
from gradstep.core.host.retold import Told
from gradstep.core.protocol.message_parts import ProblemInfo, ProgramInfo
from gradstep.core.protocol.program_change import HELD, ProgramChange, compare_programs


class _Telling(NamedTuple):
    """What was told of a program, as which problems it knew of itself, and what was told before
    then, for who goes on from it."""

    program: Program
    steps: Sequence[Step]
    backend: Backend
    info: ProgramInfo
    own: Sequence[ProblemInfo]
    told: Told

    def is_of(self, session: DebugSession) -> bool:
        """Whether of that session there is the same to tell."""
        same = self.program is session.program and self.steps is session.plan.steps
        return same and (self.backend is session.backend or self.backend == session.backend)


class ToldProgram:
    """Every program that is told is to go through it. The window keeps the last HELD."""

    def __init__(self) -> None:
        self._recent: list[_Telling] = []  # the latest first
        self._number = 0

    def forget(self) -> None:
        """What was told is of another document."""
        self._recent = []

    def is_other(self, session: DebugSession) -> bool:
        """Whether the session runs another program than the one that was told last."""
        return not self._recent or self._recent[0].program is not session.program

    def whole(self, session: DebugSession, problems: Sequence[ProblemInfo] = ()) -> ProgramInfo:
        """All that there is to tell. problems: beside those that the program knows of."""
        return self._tell(session, problems)[1]

    def change(self, session: DebugSession, problems: Sequence[ProblemInfo] = ()) -> ProgramChange:
        """The difference to what was told last, which there has to be, or just before that, where
        an edit was undone."""
        return compare_programs(*self._tell(session, problems))

    @collector_paused()
    def _tell(
        self, session: DebugSession, problems: Sequence[ProblemInfo]
    ) -> tuple[ProgramInfo, ProgramInfo]:
        """What was told before, and what is told now."""
        self._number += 1
        known = next((each for each in self._recent if each.is_of(session)), None)
        if known is None:
            told = self._recent[0].told.copy() if self._recent else Told()
            info = program_info(session, told)
            own: Sequence[ProblemInfo] = info.problems
            before = self._recent[0].info if self._recent else info
        else:
            info = before = known.info
            own, told = known.own, known.told
        info = structs.replace(info, number=self._number, problems=[*own, *problems])
        now = _Telling(session.program, session.plan.steps, session.backend, info, own, told)
        self._recent = [now, *self._recent][:HELD]
        return before, info
