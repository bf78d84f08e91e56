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


@pytest.mark.parametrize("name", ["while_loop", "lstm"])
def test_nor_into_a_loop_and_out_of_it(
    service: EngineService, example: Callable[[str], bytes], name: str
) -> None:
    """To the end, over every step of every iteration."""
    service.handle(m.Open(), [example(name)])
    request, depths = m.Control(command="step_into"), {False: 0, True: 0}
    stopped, _ = service.handle(request)
    while isinstance(stopped, m.Stopped) and stopped.reason == "step":
        was_inside, answers = bool(stopped.inside), []
        depth = depth_of(lambda into=answers: into.append(service.handle(request)))  # type: ignore[misc]
        depths[was_inside] = max(depths[was_inside], depth)
        [(stopped, _)] = answers
    assert isinstance(stopped, m.Stopped)
    assert stopped.reason == "end"
    assert depths == {False: DEEPEST, True: DEEPEST}
