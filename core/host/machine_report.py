"""What a machine has for Gradstep, and how it gets what it lacks: as `gradstep doctor` finds it."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

import msgspec

from gradstep.core.errors import GradstepError
from gradstep.core.host.engine_client import local_engine
from gradstep.core.host.remote_engine import EngineChoice, RemoteEngine
from gradstep.core.json_text import UNREADABLE

_LONGEST = 150  # seconds; a first look at a GPU compiles its kernels
_ENGINE = ("engine", "--stdio")


class MachineFact(msgspec.Struct, frozen=True):
    """One thing that was looked at; `fix` says what to do when it is not ok, and `commands` are
    what to type for that, one of them where there are several."""

    name: str
    ok: bool
    text: str
    fix: str = ""
    commands: list[str] = []

    @property
    def advice(self) -> str:
        """What to do; "" where nothing is to be done."""
        return "" if self.ok else self.fix


class _Report(msgspec.Struct):
    checks: list[MachineFact]


def as_text(findings: Sequence[MachineFact]) -> str:
    """A line for each, and one for what to do."""
    width = max((len(finding.name) for finding in findings), default=0)
    lines = []
    for finding in findings:
        head = f"{'ok' if finding.ok else '--'}  {finding.name.ljust(width)}  "
        lines.append(head + finding.text)
        if finding.advice:
            lines.append(" " * len(head) + finding.advice)
    return "\n".join(lines)


def examine(engine: EngineChoice = None) -> list[MachineFact]:
    """What `gradstep doctor` says there where `engine` is: in a process of its own, which a broken
    driver or library may take down. Takes seconds. Raises GradstepError where it cannot say."""
    remote = engine if isinstance(engine, RemoteEngine) else None
    command = doctor_command(engine.argv if isinstance(engine, RemoteEngine) else engine)
    try:
        done = subprocess.run(command, capture_output=True, timeout=_LONGEST, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        if remote is not None and isinstance(error, OSError):
            raise remote.no_ssh() from None
        raise _silent(f"{error}") from None
    try:
        return msgspec.json.decode(done.stdout, type=_Report).checks
    except UNREADABLE:
        said = (done.stderr or done.stdout).decode(errors="replace").strip().split("\n")
        lost = None if remote is None else remote.end(done.returncode, said, greeted=False)
        raise lost or _silent(said[-1] or f"exit status {done.returncode}") from None


def doctor_command(engine: Sequence[str] | None) -> list[str]:
    """The command that examines the machine on which `engine` is started."""
    started = list(engine or ())
    known = tuple(started[-2:]) == _ENGINE
    return [*(started if known else local_engine())[:-2], "doctor", "--json"]


def _silent(why: str) -> GradstepError:
    return GradstepError(
        f"the machine could not be examined: {why}",
        kind="UnavailableError",
        hint="try 'gradstep doctor' in a terminal there",
    )
