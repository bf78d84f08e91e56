"""How deep the stack is from a request to what a step computes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from gradstep.core.engine.calls.call_loop import run_through
from gradstep.core.host.engine_service import EngineService
from gradstep.core.protocol import messages as m

DEEPEST = 9  # calls: the first is `EngineService.handle`, the last what a step was bound to


def depth_of(handle: Callable[[], object]) -> int:
    """The most calls from `EngineService.handle` to one that `run_through` makes."""
    depths = [0]

    def note(frame: FrameType, event: str, arg: Any) -> None:
        if event == "call" and frame.f_code is run_through.__code__:
            depths.append(1 + calls_from_handle(frame))

    sys.setprofile(note)
    try:
        handle()
    finally:
        sys.setprofile(None)
    return max(depths)


def calls_from_handle(frame: FrameType | None) -> int:
    count = 1
    while frame is not None and frame.f_code is not EngineService.handle.__code__:
        count, frame = count + 1, frame.f_back
    assert frame is not None
    return count


@pytest.mark.parametrize("command", ["step", "step_into", "continue_"])
def test_a_step_is_no_deeper_than_needed(
    service: EngineService, example: Callable[[str], bytes], command: str
) -> None:
    service.handle(m.Open(), [example("tutorial")])
    request = m.Control(command=command)
    assert 0 < depth_of(lambda: service.handle(request)) <= DEEPEST
