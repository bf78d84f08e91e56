"""The smallest document on which two devices part as they do on a whole one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from gradstep.core.checks.reduction.reduced_document import ReducedGraph, of_value
from gradstep.core.checks.reduction.reduction_search import Reduction
from gradstep.core.checks.reduction.reduction_symptom import Clues, Difference
from gradstep.core.checks.reduction.values_read import ValuesRead
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.recorded_run import RecordedRun
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.host.device_services import DeviceServices
from gradstep.core.host.whole_runs import make_runs
from gradstep.core.program.derive import derive
from gradstep.core.program.questions.loaded_document import Loaded
from gradstep.core.protocol.device_names import RECORDED_DEVICE
from gradstep.core.protocol.messages import ComparedNode


def require_runnable(device: str) -> None:
    """Raise GradstepError for what is no device, and no recording of one, but a trace."""
    if device == RECORDED_DEVICE:
        raise GradstepError(
            "what was recorded elsewhere cannot be run again, so nobody knows whether a smaller "
            "graph would still show the difference",
            kind="UnimplementedError",
            hint="compare with a device of this machine, an emulated one, or a FILE.gradrec",
        )


def reduced_difference(
    loaded: Loaded, program: Program, devices: DeviceServices, left: str, right: str, node: str = ""
) -> Document:
    """What shows how an operation of the document's program parts two devices by itself; without a
    node, the first that does. It may be one of a gradient, or of an update. Raises
    GradstepError."""
    for name in (left, right):
        require_runnable(name)

    found = _asked(devices.compare(program, left, right).nodes, node, left, right)
    symptom = Difference.of(found, partial(_rows, loaded, devices, left, right))
    session = make_runs(program, devices.open_backend(left), 1)
    values = ValuesRead(session, session.stop.run, {})
    about = loaded.document, program.graph, symptom, Clues(found.name), TensorRef(found.name)
    small = Reduction(*about, None, values).document()
    title = f"The smallest on which {left} and {right} differ: {found.name} ({found.type})"
    return small.with_(title=title, note=found.rule or found.because)


def reduced_recording(
    loaded: Loaded,
    program: Program,
    devices: DeviceServices,
    left: str,
    recording: bytes,
    name: str,
    node: str = "",
) -> Document:
    """What shows how an operation gives something else here than where it was recorded: that
    operation, with numbers for what it reads, and what it gave there on them, which the document
    keeps as its recorded run. recording: the file, called `name`. Raises GradstepError."""
    rows = devices.compare_recording(program, left, recording, name).nodes
    found = _asked(rows, node, left, name)
    Difference.of(found, lambda document: ())  # raises for what makes no difference by itself
    source, outputs = devices.recorded_result(recording, name, found.name)
    if found.name not in program.graph:
        raise _hangs_on_more(found.name)
    values = ValuesRead(make_runs(program, devices.open_backend(left), 1), 0, {})
    part = ReducedGraph(program.graph, {found.name}, values.read)
    small = of_value(loaded.document, part, TensorRef(found.name))
    there = {str(TensorRef(found.name, i)): Constant(array) for i, array in enumerate(outputs)}
    title = f"The smallest on which {left} and {name} differ: {found.name} ({found.type})"
    small = small.with_(
        title=title, note=found.rule or found.because, recorded=RecordedRun(source, values=there)
    )
    if not _shows(small, found, partial(_rows, loaded, devices, left, RECORDED_DEVICE)):
        raise _hangs_on_more(found.name)
    return small


def _rows(
    loaded: Loaded, devices: DeviceServices, left: str, right: str, document: Document
) -> Sequence[ComparedNode]:
    return devices.compare(derive(document, loaded.functions), left, right).nodes


def _shows(
    small: Document, found: ComparedNode, compare: Callable[[Document], Sequence[ComparedNode]]
) -> bool:
    """Whether the document differs from its recorded run, or does not run, as it was found."""
    try:
        return any(row.name == found.name and row.differs for row in compare(small))
    except GradstepError as error:
        return found.verdict == "raises" and error.node == found.name


def _hangs_on_more(node: str) -> GradstepError:
    return GradstepError(
        f"'{node}' does not show it by itself",
        kind="UnimplementedError",
        node=node,
        hint="it may hang on state, on several iterations, or on what was added in another order; "
        "the recording shows it as it is",
    )


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
