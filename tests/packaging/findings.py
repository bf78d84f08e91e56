"""What was checked, and what came of it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

LONGEST = 600  # seconds that one command may take


class CheckFailedError(Exception):
    """What is wrong, in one line."""


@dataclass(frozen=True)
class Finding:
    """ok: None for what could not be checked here."""

    name: str
    ok: bool | None
    text: str
    seconds: float

    def __str__(self) -> str:
        word = {True: "ok", False: "FAILED", None: "skipped"}[self.ok]
        return f"{word:8}{self.name.ljust(32)}{self.seconds:6.1f} s  {self.text}"


@dataclass
class Findings:
    """say: gets each as soon as it is known."""

    say: Callable[[str], None]
    found: list[Finding] = field(default_factory=list)

    def check(self, name: str, looked_at: Callable[[], str]) -> bool:
        """Call `looked_at`, which says what it saw, or raises CheckFailedError."""
        began, ok = time.perf_counter(), True
        try:
            text = looked_at()
        except (CheckFailedError, OSError, subprocess.TimeoutExpired) as error:
            ok, text = False, " ".join(str(error).split())
        self._add(Finding(name, ok, text, time.perf_counter() - began))
        return ok

    def skip(self, name: str, why: str) -> None:
        self._add(Finding(name, None, why, 0.0))

    @property
    def is_clean(self) -> bool:
        return all(finding.ok is not False for finding in self.found)

    def as_json(self) -> dict[str, Any]:
        return {"ok": self.is_clean, "checks": [asdict(finding) for finding in self.found]}

    def _add(self, finding: Finding) -> None:
        self.found.append(finding)
        self.say(str(finding))


def expect(holds: bool, otherwise: str) -> None:
    """Raises CheckFailedError, with the words, where it does not hold."""
    if not holds:
        raise CheckFailedError(otherwise)


def run(
    command: Sequence[str | Path],
    folder: Path,
    environment: Mapping[str, str],
    status: int = 0,
    given: str = "",
) -> str:
    """What the command says on standard output. Raises CheckFailedError where it ends otherwise
    than with `status`."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=dict(environment),
        input=given,
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )
    said = (done.stderr.strip() or done.stdout.strip())[-600:]
    name = " ".join(Path(str(word)).name for word in command[:3])
    expect(done.returncode == status, f"{name}: exit status {done.returncode}: {said}")
    return done.stdout
