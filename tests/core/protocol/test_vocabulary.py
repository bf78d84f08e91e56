"""The words on the wire: those of the engine, and what was recorded with them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Any, get_args

import msgspec

from gradstep.core.autodiff.check.check_result import Verdict
from gradstep.core.debug.breaks.breakpoints import BreakpointKind
from gradstep.core.debug.concurrency.thread_state import Condition
from gradstep.core.debug.motion.stopped_state import Reason
from gradstep.core.document.expectation import ExpectationKind
from gradstep.core.graph.model import Phase
from gradstep.core.protocol import vocabulary
from gradstep.core.protocol.message_recording import read_recording
from tests.support.each_case import each_of

RECORDING = Path(__file__).parents[2] / "data" / "recordings" / "tutorial.rec"


@each_of(
    ("words", "kind"),
    [
        (vocabulary.PhaseName, Phase),
        (vocabulary.StopReason, Reason),
        (vocabulary.BreakpointTarget, BreakpointKind),
        (vocabulary.ThreadCondition, Condition),
        (vocabulary.CheckVerdict, Verdict),
        (vocabulary.ExpectationWord, ExpectationKind),
    ],
    ids=lambda x: x.__name__ if isinstance(x, type) else "",
)
def test_every_word_of_the_engine_can_be_said_and_no_other(words: Any, kind: type[StrEnum]) -> None:
    assert [*get_args(words)] == [member.value for member in kind]


def test_recorded_messages_are_the_same_bytes_again() -> None:
    recorded, data = read_recording(RECORDING), RECORDING.read_bytes()
    assert len(recorded) > 20
    for each in recorded:
        assert msgspec.msgpack.encode(each.packet.message) in data
