"""What the window was told of the program last, so that after an edit it is told what changed."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.garbage_collection import collector_paused
from gradstep.core.host.program_reports import program_info
from gradstep.core.host.retold import Told
from gradstep.core.protocol.message_parts import ProblemInfo, ProgramInfo
from gradstep.core.protocol.program_change import ProgramChange, compare_programs


class ToldProgram:
    """Every program that is told is to go through it."""

    def __init__(self) -> None:
        self._told: Told | None = None
        self._last: ProgramInfo | None = None
        self._number = 0

    def forget(self) -> None:
        """What was told is of another document."""
        self._told = self._last = None

    @collector_paused()
    def whole(self, session: DebugSession, problems: Sequence[ProblemInfo] = ()) -> ProgramInfo:
        """All that there is to tell. problems: beside those that the program knows of."""
        self._number += 1
        self._told = self._told or Told()
        info = program_info(session, self._told)
        info = structs.replace(info, number=self._number, problems=[*info.problems, *problems])
        self._last = info
        return info

    @collector_paused()
    def change(self, session: DebugSession, problems: Sequence[ProblemInfo] = ()) -> ProgramChange:
        """The difference to what was told last, which there has to be."""
        before = self._last
        assert before is not None
        return compare_programs(before, self.whole(session, problems))
