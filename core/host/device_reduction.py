"""The smallest document on which two devices part as they do on a whole one."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.core.checks.reduction.reduction_search import Reduction
from gradstep.core.checks.reduction.reduction_symptom import Clues, Difference
from gradstep.core.checks.reduction.values_read import ValuesRead
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.host.device_services import DeviceServices
from gradstep.core.host.whole_runs import make_runs
from gradstep.core.io.device_recordings import is_recording
from gradstep.core.program.derive import derive
from gradstep.core.program.questions.loaded_document import Loaded
from gradstep.core.protocol.device_names import RECORDED_DEVICE
from gradstep.core.protocol.messages import ComparedNode


def require_runnable(device: str) -> None:
    """Raise GradstepError for what is no device, but a recording of one."""
    if device == RECORDED_DEVICE or is_recording(device):
        raise GradstepError(
            "what was recorded elsewhere cannot be run again, so nobody knows whether a smaller "
            "graph would still show the difference",
            kind="UnimplementedError",
            hint="compare with a device of this machine, or an emulated one",
        )


def reduced_difference(
    loaded: Loaded, program: Program, devices: DeviceServices, left: str, right: str, node: str = ""
) -> Document:
    """What shows how an operation of the document's program parts two devices by itself; without a
    node, the first that does. It may be one of a gradient, or of an update. Raises
    GradstepError."""
    for name in (left, right):
        require_runnable(name)

    def compare(document: Document) -> Sequence[ComparedNode]:
        return devices.compare(derive(document, loaded.functions), left, right).nodes

    found = _asked(devices.compare(program, left, right).nodes, node, left, right)
    symptom = Difference.of(found, compare)
    session = make_runs(program, devices.open_backend(left), 1)
    values = ValuesRead(session, session.stop.run, {})
    about = loaded.document, program.graph, symptom, Clues(found.name), TensorRef(found.name)
    small = Reduction(*about, None, values).document()
    title = f"The smallest on which {left} and {right} differ: {found.name} ({found.type})"
    return small.with_(title=title, note=found.rule or found.because)


def _asked(rows: Sequence[ComparedNode], node: str, left: str, right: str) -> ComparedNode:
    if node:
        found = next((row for row in rows if row.name == node), None)
        if found is None:
            raise GradstepError(
                f"'{node}' was not compared",
                kind="KeyError",
                hint="gradstep compare --all lists what was",
            )
        return found
    first = next((row for row in rows if row.creates), None)
    if first is None:
        raise GradstepError(
            f"there is nothing to be made smaller: no operation parts {left} and {right}",
            kind="FailedPreconditionError",
        )
    return first
