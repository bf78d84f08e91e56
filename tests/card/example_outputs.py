"""What the examples fetch in their first runs on the device, and how far NumPy is from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.errors import GradstepError
from gradstep.gpu.tensor_distance import distance
from tests.card.device import Device
from tests.card.example_trials import RUNS, program
from tests.card.libraries import packed

_MOST = 2048  # elements of an array that are kept


def try_one(device: Device, task: str) -> dict[str, Any]:
    """task: "outputs|cupy|NAME". rows: run and tensor -> the array, or its first elements."""
    name = task.split("|")[2]
    there, here = DebugSession(program(name), device.backend()), DebugSession(program(name))
    rows: dict[str, Any] = {}
    for run in range(RUNS):
        stops = [session.continue_() for session in (there, here)]
        if any(stop.error is not None for stop in stops):
            return {"on": device.name, "rows": rows, "stopped": str(stops[0].error)[:300]}
        for ref in there.program.fetches:
            value, ours = (_value(session, run, ref) for session in (there, here))
            if isinstance(value, np.ndarray) and not value.dtype.hasobject:
                apart = None if not isinstance(ours, np.ndarray) else distance(ours, value)
                kept = packed(value.reshape(-1)[:_MOST])
                rows[f"{run}|{ref}"] = {"values": [kept], "shape": value.shape, "apart": apart}
    device.free()
    return {"on": device.name, "rows": rows}


def _value(session: DebugSession, run: int, ref: Any) -> Any:
    try:
        return session.frame(run, None).value(ref)
    except GradstepError:
        return None
