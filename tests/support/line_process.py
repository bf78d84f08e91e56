"""A process that is asked one thing after another, a line of JSON each way."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).parents[2]


class LineProcess:
    """errors: what its standard error goes to. environment: its variables; None: those of this
    process."""

    def __init__(
        self,
        command: Sequence[str],
        errors: IO[Any],
        environment: Mapping[str, str] | None = None,
    ) -> None:
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
        return self.status is None

    @property
    def status(self) -> int | None:
        """None while it lives."""
        return self._process.poll()

    def kill(self) -> None:
        self._process.kill()

    def tell(self, question: Any) -> Any:
        """Its answer; None where it did not live to give one."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except OSError:
            line = ""
        return json.loads(line) if line else None

    def end(self) -> int:
        """Ask it to; its status."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._process.stdout.close()
        return self._process.wait()
