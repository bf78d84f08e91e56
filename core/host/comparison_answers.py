"""The open program on several devices, and what one gives as a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePath

from msgspec import structs

from gradstep.core.cancellation import check_cancelled
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.document.data_edits import fed_alone
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.host.device_services import DeviceServices
from gradstep.core.io.native import gradstep_file
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.framing import Buffer


def compare_devices(
    program: Program,
    request: m.Compare,
    buffers: Sequence[Buffer],
    devices: DeviceServices,
    emit: Callable[[m.Event], None],
) -> m.Compared:
    """With each device that was asked for; a device that is not there is left out, and said."""
    comparisons: list[m.Comparison] = []
    unavailable: dict[str, str] = {}
    for done, device in enumerate(request.against):
        check_cancelled()
        text = f"Comparing {request.left} with {PurePath(device).name}"
        emit(m.Progress(text=text, done=done, total=len(request.against)))
        try:
            found = _compared(program, request, buffers, devices, device)
            comparisons.append(structs.replace(found, device=device))
        except GradstepError as error:
            unavailable[device] = "; ".join(filter(None, (error.message, error.hint)))
    return m.Compared(comparisons=comparisons, unavailable=unavailable)


def _compared(
    program: Program,
    request: m.Compare,
    buffers: Sequence[Buffer],
    devices: DeviceServices,
    device: str,
) -> m.Comparison:
    left, go_on = request.left, request.go_on
    if device not in request.recordings:
        return devices.compare(program, left, device, go_on)
    file, name = bytes(buffers[request.recordings[device]]), PurePath(device).name
    return devices.compare_recording(program, left, file, name, go_on)


def record_device(
    document: Document, program: Program, request: m.RecordDevice, devices: DeviceServices
) -> tuple[m.DeviceRecorded, tuple[Buffer, ...]]:
    """What a device gives for the program of `document`. Raises GradstepError."""
    file = gradstep_file.to_bytes(fed_alone(document, program.feeds))
    about = request.left, request.device, file, request.go_on
    found, recording = devices.record(program, *about)
    return m.DeviceRecorded(nodes=len(found.nodes)), (recording,)
