"""A child process that is asked one thing after another, a line of JSON each way."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


class Child:
    """One process. log: what it writes to its standard error is added there. environment: its
    variables; None: those of this process."""

    def __init__(
        self, command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                [*command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=ROOT,
                env=os.environ if environment is None else environment,
                text=True,
            )

    @property
    def lives(self) -> bool:
        return self._process.poll() is None

    def ask(self, question: Any, seconds: float) -> dict[str, Any]:
        """Its answer; {"died": …} where the process did not live to tell."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        timer = threading.Timer(seconds, self._process.kill)
        timer.start()
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except OSError:
            answer = ""
        finally:
            timer.cancel()
        if not answer:
            return {"died": _status(self._process.wait(), seconds)}
        found: dict[str, Any] = json.loads(answer)
        return found

    def end(self) -> None:
        with contextlib.suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


def _status(code: int, seconds: float) -> str:
    if code == -9:
        return f"it was ended after {seconds:.0f} s"
    return f"its process ended by signal {-code}" if code < 0 else f"its process ended with {code}"
