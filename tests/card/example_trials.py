"""One example on NumPy and on the device: in lockstep, and three runs of the debugger's."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.core.io.open_document import read
from gradstep.core.program.derive import derive
from gradstep.gpu.compare import compare
from gradstep.gpu.tensor_distance import distance
from gradstep.gpu.tolerances import tolerance, with_inherited
from tests.card.device import Device

FOLDER = Path(__file__).parents[2] / "assets" / "examples"
RUNS = 3


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.gradstep"))


def program(name: str) -> Program:
    return derive(read(FOLDER / f"{name}.gradstep"), trusted=True)


def try_one(device: Device, task: str) -> dict[str, Any]:
    """task: "example|cupy|NAME"."""
    name = task.split("|")[2]
    found: dict[str, Any] = {**_lockstep(device, name), **_runs(device, name)}
    try:
        device.sync()
    except Exception as error:
        found["lost"] = str(error)
    device.free()
    return found


def _lockstep(device: Device, name: str) -> dict[str, Any]:
    """verdicts: how many nodes got which. differ: those that make a difference by themselves, of
    which rules that are not the same are one cause; refused: those that fail there alone."""
    found = compare(program(name), NumpyBackend(), device.backend())
    refused = [n for n in found.nodes if n.right.status == "raised" and n.left.status != "raised"]
    by_rule = [n for n in found.nodes if n.left.status == "raised" and n.right.status != "raised"]
    made = [n for n in found.nodes if n.creates and n not in refused and n not in by_rule]
    inherit = [n for n in found.nodes if n.verdict == "differs" and not n.creates]
    return {
        "verdicts": dict(Counter(node.verdict for node in found.nodes)),
        "differ": [_said(n, str(n.metrics)) for n in made],
        "refused": [_said(n, n.right.text) for n in refused],
        "by_rule": [_said(n, n.left.text) for n in by_rule],
        "inherit": len(inherit),
    }


def _said(node: Any, text: str) -> list[str]:
    return [node.name, node.type, text[:300]]


def _runs(device: Device, name: str) -> dict[str, Any]:
    """apart: what is fetched and farther apart than sums may be; counted: of the second run."""
    there, here = DebugSession(program(name), device.backend()), DebugSession(program(name))
    counted: dict[str, int] = {}
    for run in range(RUNS):
        before = device.count()
        stops = [session.continue_() for session in (there, here)]
        counted = device.counted(before) if run == 1 else counted
        reasons = [(stop.reason, stop.error and stop.error.kind) for stop in stops]
        if reasons[0] != reasons[1]:
            return {"stops": [[str(s.reason), str(s.error)[:300]] for s in stops], **counted}
        if stops[1].error is not None:
            break
    return {"fetched": _fetched(there, here), "apart": _apart(there, here), **counted}


def _pairs(there: DebugSession, here: DebugSession) -> Any:
    for run in range(RUNS):
        for ref in here.program.fetches:
            try:
                ours = here.frame(run, None).value(ref)
            except GradstepError:
                continue  # the run did not come so far
            if isinstance(ours, np.ndarray):
                yield run, ref, ours, there.frame(run, None).value(ref)


def _fetched(there: DebugSession, here: DebugSession) -> int:
    return sum(1 for _ in _pairs(there, here))


def _apart(there: DebugSession, here: DebugSession) -> list[Any]:
    found = []
    for run, ref, ours, theirs in _pairs(there, here):
        if not isinstance(theirs, np.ndarray) or theirs.shape != ours.shape:
            found.append([run, str(ref), "is not there, or of another shape"])
            continue
        allowed = with_inherited(tolerance("reducing", ours.dtype), ours.dtype).rel_l2
        far = distance(ours, theirs)
        if far is None:
            far = 0.0 if np.array_equal(ours, theirs) else 1.0
        if far > allowed:
            found.append([run, str(ref), float(f"{far:.3g}")])
    return found
