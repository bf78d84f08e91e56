"""What processes of a pool are asked to do in tests."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.host.workers.work_link import link, stopped


def double(number: int) -> int:
    sys.stdout.write("on standard output, which is the pool's\n")  # and must not get in its way
    link().report({"half": number})
    return 2 * number


def process_number() -> int:
    return os.getpid()


def fail(message: str) -> None:
    raise GradstepError(message, kind="ValueError", node="w", hint="do something else")


def fall_over() -> None:
    raise ZeroDivisionError("surprise")


def die_once(flag: str) -> int:
    """Killed at the first try."""
    if not Path(flag).exists():
        Path(flag).write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def die() -> None:
    os._exit(7)


def heed(step: float = 0.01) -> None:
    """Go on until it is to end."""
    link().report({"pid": os.getpid()})
    while not link().is_stopped():
        time.sleep(step)
    raise stopped()


def heed_nothing() -> None:
    link().report({"pid": os.getpid()})
    while True:
        time.sleep(0.05)


def environment() -> dict[str, Any]:
    """What a confined process sees."""
    try:
        Path(__file__).with_name("never").write_text("written")
        wrote = True
    except OSError:
        wrote = False
    return {"token": "MY_TOKEN" in os.environ, "wrote": wrote, "numpy": "numpy" in sys.modules}
