"""Diagnose, as the engine answers it: findings with the edit that mends them, of runs once made."""

from __future__ import annotations

from pathlib import Path

from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
from gradstep.core.protocol.messages import Control, Diagnose, Diagnosed, LintFinding, Open

EXAMPLES = Path(__file__).parents[3] / "assets" / "examples"


def opened(example: str) -> EngineService:
    service = EngineService(CpuOnly())
    data = (EXAMPLES / f"{example}.gradstep").read_bytes()
    service.handle(Open(revision=1), (data,))
    return service


def asked(service: EngineService, *off: str) -> list[LintFinding]:
    reply, _ = service.handle(Diagnose(off=[*off]))
    assert isinstance(reply, Diagnosed)
    return reply.findings


def test_a_finding_says_its_lint_its_example_and_what_mends_it() -> None:
    (found,) = asked(opened("batch_norm_updates"))
    assert (found.code, found.node) == ("forgotten-average", "forgotten/bn/AssignMovingAvg")
    assert found.title == "Moving averages that nothing updates"
    assert found.example == "batch_norm_updates"
    assert found.remedy == "run"
    assert found.names[-1] == "forgotten/bn/AssignMovingAvg_1"


def test_one_that_is_off_does_not_look() -> None:
    assert asked(opened("batch_norm_updates"), "forgotten-average") == []


def test_runs_are_looked_at_once_they_are_made() -> None:
    service = opened("adam_freezing")
    assert asked(service) == []
    for _ in range(3):
        service.handle(Control(command="continue_"))
    assert {each.code for each in asked(service)} == {"moved-by-memory"}
