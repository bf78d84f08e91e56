"""Answering FindSmallest: of what is explained, of a wrong rule, of a device's difference."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath

from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import Document
from gradstep.core.graph.model import TensorRef
from gradstep.core.host.device_reduction import reduced_difference, reduced_recording
from gradstep.core.host.device_services import DeviceServices
from gradstep.core.host.reductions import reduced_in
from gradstep.core.host.rule_reduction import first_wrong_rule, reduced_rule
from gradstep.core.io.device_recordings import is_recording
from gradstep.core.io.native import gradstep_file
from gradstep.core.program.gradient_context import situation_of
from gradstep.core.program.questions.loaded_document import Loaded
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.framing import Buffer

Explain = Callable[[m.FindSmallest], m.Explanation]
Check = Callable[[str], m.GradientTable]  # of one operation, by its name


def smallest_of(
    session: DebugSession,
    loaded: Loaded,
    request: m.FindSmallest,
    explain: Explain,
    check: Check,
    devices: DeviceServices,
    recording: bytes = b"",
) -> Document:
    """recording: the file that is compared with, if it is one. Raises GradstepError where nothing
    is wrong, and where no part of the graph shows it."""
    if is_recording(request.against):
        file = recording, PurePath(request.against).name
        return reduced_recording(
            loaded, session.program, devices, request.left, *file, request.node
        )
    if request.against:
        about = loaded, session.program, devices, request.left, request.against
        return reduced_difference(*about, request.node)
    if request.node:
        wrong = first_wrong_rule(check(request.node), request.node)
        given = situation_of(session, {}).given
        return reduced_rule(loaded, session.backend, session.program, given, wrong)
    wrt = TensorRef.parse(request.wrt) if request.wrt else None
    found, of = explain(request), TensorRef.parse(request.of)
    return reduced_in(session, loaded, found, of, wrt)


def answer_of(small: Document) -> tuple[m.Smallest, tuple[Buffer, ...]]:
    """What the engine answers: the document as a file."""
    return m.Smallest(operations=len(small.graph)), (gradstep_file.to_bytes(small),)
