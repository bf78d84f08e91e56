"""Every device by name, as the command line and the engine process ask for them."""

from __future__ import annotations

import time

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.engine.backend import Backend
from gradstep.core.errors import GradstepError
from gradstep.core.protocol.messages import Comparison, DeviceInfo
from gradstep.gpu.compare import compare
from gradstep.gpu.device_status import DeviceStatus
from gradstep.gpu.device_table import DeviceEntry, entries, find
from gradstep.gpu.emulated_systems import PROFILES
from gradstep.gpu.recorded_comparison import RECORDED, compare_recorded


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
