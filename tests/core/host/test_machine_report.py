"""What a machine has, asked where the engine runs."""

from __future__ import annotations

import sys

import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.host.machine_report import MachineFact, as_text, doctor_command, examine


def engine(script: str) -> list[str]:
    """A command that starts an engine, and examines its machine by `script`."""
    return [sys.executable, "-c", script, "engine", "--stdio"]


@pytest.mark.slow
def test_the_local_machine() -> None:
    found = {finding.name: finding for finding in examine()}
    assert found["Python"].ok
    assert found["numpy"].ok
    assert {"gpu", "SciPy", "emulate:tf-gpu"} <= set(found)
    for finding in found.values():
        if not finding.ok and finding.name not in ("display", "Python"):
            assert finding.commands, f"{finding.name} lacks what to type"
            assert finding.commands[0] in f"{finding.text} {finding.fix}"


def test_it_is_asked_where_the_engine_runs() -> None:
    remote = ["ssh", "box", "gradstep", "engine", "--stdio"]
    assert doctor_command(remote) == ["ssh", "box", "gradstep", "doctor", "--json"]
    assert doctor_command(None)[-2:] == ["doctor", "--json"]
    assert doctor_command(["some", "other", "engine"]) == doctor_command(None)


def test_what_is_wrong_is_no_failure_of_asking() -> None:
    said = '{"checks": [{"name": "Qt", "ok": false, "text": "no"}]}'
    script = f"print({said!r}); raise SystemExit(1)"
    assert examine(engine(script)) == [MachineFact("Qt", False, "no")]


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("raise SystemExit('gradstep: no such host')", "no such host"),
        ("print('[]')", "could not be examined"),
        ("raise SystemExit(3)", "exit status 3"),
    ],
)
def test_a_machine_that_cannot_be_asked(script: str, said: str) -> None:
    with pytest.raises(GradstepError, match="could not be examined") as caught:
        examine(engine(script))
    assert said in caught.value.message
    assert "gradstep doctor" in caught.value.hint


def test_no_such_program() -> None:
    with pytest.raises(GradstepError, match="could not be examined"):
        examine(["/no/such/program", "engine", "--stdio"])


def test_text_has_advice_where_it_is_needed_alone() -> None:
    findings = [
        MachineFact("a", True, "1.0", "get it"),
        MachineFact("long", False, "none", "get it"),
    ]
    assert as_text(findings).splitlines() == [
        "ok  a     1.0",
        "--  long  none",
        "          get it",
    ]
