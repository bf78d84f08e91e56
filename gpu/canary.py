"""Python text that tries a library in a process of its own: one that crashes or hangs harms nobody.

It is asked once, in the background; whoever wants the answer says how long he waits for it.
"""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

Answer = TypeVar("Answer")

CONFINED = "it cannot be tried here, where no process may be started"
# In a canary: what NVIDIA's driver is called, by the tool that comes with it; "" where it is not.
DRIVER = """
def driver():
    import subprocess
    try:
        asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        return subprocess.run(asked, capture_output=True, text=True, timeout=10).stdout.split()[0]
    except Exception:
        return ""
"""
PATIENCE_S = 2.0  # what somebody waits for a list of devices


def sing(canary: str, timeout_s: float) -> tuple[str, int] | None:
    """What `canary` prints, and its exit status; None where it ran out of time, and was ended. It
    ends with this process, too. Raises OSError where no process may be started: in a sandbox."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", canary],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    atexit.register(process.kill)
    try:
        return process.communicate(timeout=timeout_s)[0], process.wait()
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None
    finally:
        atexit.unregister(process.kill)


def last_line(output: str) -> dict[str, Any] | None:
    """The object of JSON with which a canary ended; None of one that did not come to that."""
    try:
        return dict(json.loads(output.strip().splitlines()[-1]))
    except (IndexError, TypeError, ValueError):
        return None


class Awaited(Generic[Answer]):
    """What `ask` gives, called once in a thread of its own when it is first wanted."""

    def __init__(self, ask: Callable[[], Answer]) -> None:
        self._ask = ask
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._answers: list[Answer] = []

    def within(self, patience_s: float) -> Answer | None:
        """The answer; None where it does not come within so many seconds."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._get, daemon=True)
                self._thread.start()
        self._thread.join(patience_s)
        return self._answers[0] if self._answers else None

    def _get(self) -> None:
        self._answers.append(self._ask())
