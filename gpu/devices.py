"""Every device by name, as the command line and the engine process ask for them."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence

import numpy as np

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.engine.backend import Backend
from gradstep.core.errors import GradstepError
from gradstep.core.host.moment_values import Taken
from gradstep.core.protocol.messages import Comparison, DeviceInfo
from gradstep.gpu.compare import compare
from gradstep.gpu.device_status import DeviceStatus
from gradstep.gpu.device_table import DeviceEntry, entries, find
from gradstep.gpu.emulated_systems import PROFILES
from gradstep.gpu.moment_comparison import compare_values
from gradstep.gpu.recorded_comparison import RECORDED, compare_recorded
from gradstep.gpu.recorded_track import RecordedBackend
from gradstep.gpu.recorder import Recorder
from gradstep.gpu.recording_file import from_bytes, to_bytes


class Devices:
    """See gradstep.core.host.device_services.DeviceServices."""

    def open_backend(self, name: str) -> Backend:
        """The backend called `name`. Raises GradstepError for one that is unknown or missing."""
        entry = find(name or "cpu")
        if entry is None:
            raise GradstepError(
                f"there is no device '{name}'",
                kind="ValueError",
                hint="cpu, gpu, torch:cpu, each with :native, or emulate: with one of "
                f"{', '.join(PROFILES)}",
            )
        status = entry.probe(entry.patience_s)
        if not status.available:
            raise _missing(entry, status)
        return entry.open(status)

    def compare(self, program: Program, left: str, right: str, go_on: bool = False) -> Comparison:
        """`program` on two devices by name, node by node; what was recorded is one."""
        if RECORDED in (left, right):
            live = self.open_backend(right if left == RECORDED else left)
            return compare_recorded(program, live)
        return compare(program, self.open_backend(left), self.open_backend(right), go_on)

    def record(
        self, program: Program, left: str, right: str, document: bytes, go_on: bool = False
    ) -> tuple[Comparison, bytes]:
        """See DeviceServices."""
        here, there = self.open_backend(left), self.open_backend(right)
        recorder = Recorder(program, self._text(right, there), document)
        found = compare(program, here, there, go_on, recorder)
        return found, to_bytes(recorder.recording(here, there))

    def compare_recording(
        self, program: Program, left: str, recording: bytes, name: str, go_on: bool = False
    ) -> Comparison:
        """See DeviceServices."""
        there = RecordedBackend(from_bytes(recording, name))
        return compare(program, self.open_backend(left), there, go_on)

    def recorded_result(
        self, recording: bytes, name: str, node: str
    ) -> tuple[str, Sequence[np.ndarray]]:
        """See DeviceServices."""
        there = from_bytes(recording, name)
        found = there.nodes[node].isolated
        if not found.ok or found.dead or not found.outputs:
            raise GradstepError(
                f"'{node}' gave nothing on {there.device} that a smaller graph could be held to",
                kind="FailedPreconditionError",
                node=node,
                hint="name another node, or none for the first that makes a difference",
            )
        return there.source, found.outputs

    def _text(self, name: str, backend: Backend) -> str:
        """What a device is, for people elsewhere: the card, its driver, the library."""
        entry = find(name)
        status = None if entry is None else entry.probe(entry.patience_s)
        asked = status is not None and not status.asking  # what is not yet known stays out of it
        said = status.text if status and asked else backend.source.removeprefix("measured on ")
        said = said.rstrip(".").replace("this processor", f"a processor ({platform.machine()})")
        return f"{said}, NumPy {np.__version__}"

    def compare_values(self, left: Taken, right: Taken) -> Comparison:
        """What two moments of runs hold, operation by operation."""
        return compare_values(left, right)

    def describe(self, patience_s: float) -> list[DeviceInfo]:
        """All devices: what is there, and for what is not, how to get it."""
        until = time.monotonic() + patience_s
        every, found = entries().values(), []
        for entry in every:
            entry.probe(0.0)  # so that all are asked at once
        for entry in every:
            if entry.listed():
                status = entry.probe(max(0.0, until - time.monotonic()))
                found.append(_info(entry, status))
        return found


def _info(entry: DeviceEntry, status: DeviceStatus) -> DeviceInfo:
    return DeviceInfo(
        name=entry.name,
        kind=entry.kind,
        available=status.available,
        text=status.text,
        source=status.source,
        commands=list(status.commands),
        asking=status.asking,
    )


def _missing(entry: DeviceEntry, status: DeviceStatus) -> GradstepError:
    if entry.kind == "gpu":
        return GradstepError(
            f"this machine has no GPU that Gradstep can use: {status.text}",
            kind="DeviceNotFoundError",
            hint="emulate:tf-gpu imitates one by its documented rules",
        )
    return GradstepError(
        f"there is no {entry.name} here: {status.text}",
        kind="DeviceNotFoundError",
        hint="cpu is always there, and emulate:torch imitates PyTorch by its documented rules",
    )
