"""How a process becomes the engine: what has to be done before anything heavy is imported."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from gradstep.core.host.process.supervisor import supervise
from gradstep.core.program import sandbox

if TYPE_CHECKING:
    from gradstep.core.host.device_services import DeviceServices
    from gradstep.core.host.engine_service import Terminal

CONFINED = "--sandbox"  # asks an engine to confine itself


def run_engine(
    devices: Callable[[], DeviceServices] | None = None,
    confined: bool = False,
    terminal: Callable[[], Terminal] | None = None,
) -> int:
    """Serve whoever started this process until its requests end; the exit status. `devices` is
    called in the process that runs the user's code, and by default knows the processor alone;
    `terminal` there gives the console.
    confined: without network and files; see gradstep.core.program.sandbox. Where that cannot be,
    the engine answers, and refuses what is to run so."""
    if confined and sandbox.why_not():
        confined = False
    if not (confined and sandbox.is_inside()):
        supervise(sandbox.enter() if confined else None)
    if confined:
        sandbox.close_door()
    from gradstep.core.host.engine_worker import main

    return main(
        devices() if devices is not None else None, None if terminal is None else terminal()
    )


if __name__ == "__main__":
    sys.exit(run_engine(confined=CONFINED in sys.argv[1:]))
