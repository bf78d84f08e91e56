"""What the engine asks of the devices of this machine; main.py gives it those with a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.core.host.moment_values import Taken
from gradstep.core.protocol.messages import Comparison, DeviceInfo


class DeviceServices(Protocol):
    """Backends by the names users write ("cpu", "gpu:native", "emulate:tf-gpu")."""

    def open_backend(self, name: str) -> Backend:
        """The backend `name`. Raises GradstepError (UnavailableError) with what is missing."""

    def compare(self, program: Program, left: str, right: str, go_on: bool = False) -> Comparison:
        """The program on both, node by node; go_on: after a failure on one side, with the other's
        results. Raises GradstepError as `open_backend` does."""

    def record(
        self, program: Program, left: str, right: str, document: bytes, go_on: bool = False
    ) -> tuple[Comparison, bytes]:
        """`compare`, and what `right` gave as a file (.gradrec). document: the file of what the
        program was made of, which goes into it."""

    def compare_recording(
        self, program: Program, left: str, recording: bytes, name: str, go_on: bool = False
    ) -> Comparison:
        """The program on a device, and what another gave when it was recorded. recording: the file,
        called `name`. Raises GradstepError for one of another program."""

    def recorded_result(
        self, recording: bytes, name: str, node: str
    ) -> tuple[str, Sequence[np.ndarray]]:
        """On what a recording was made, in words; and what a node gave there on the results of the
        device that it was compared with. Raises GradstepError for a node that failed there."""

    def compare_values(self, left: Taken, right: Taken) -> Comparison:
        """What two moments of runs hold, operation by operation."""

    def describe(self, patience_s: float) -> list[DeviceInfo]:
        """Every device there could be, and what the unavailable ones lack, after so many seconds at
        most: one that has not answered says so."""


class CpuOnly:
    """The processor alone: what is there before anything is known of GPUs or profiles."""

    def open_backend(self, name: str) -> Backend:
        if name != "cpu":
            raise _unavailable(name)
        return NumpyBackend()

    def compare(self, program: Program, left: str, right: str, go_on: bool = False) -> Comparison:
        raise _unavailable(_beside_cpu(left, right))

    def record(
        self, program: Program, left: str, right: str, document: bytes, go_on: bool = False
    ) -> tuple[Comparison, bytes]:
        raise _unavailable(_beside_cpu(left, right))

    def compare_recording(
        self, program: Program, left: str, recording: bytes, name: str, go_on: bool = False
    ) -> Comparison:
        raise _unavailable(name)

    def recorded_result(
        self, recording: bytes, name: str, node: str
    ) -> tuple[str, Sequence[np.ndarray]]:
        raise _unavailable(name)

    def compare_values(self, left: Taken, right: Taken) -> Comparison:
        raise _unavailable("compare")

    def describe(self, patience_s: float) -> list[DeviceInfo]:
        source = NumpyBackend().source
        return [DeviceInfo(name="cpu", kind="cpu", available=True, text="NumPy", source=source)]


def _beside_cpu(left: str, right: str) -> str:
    return left if left != "cpu" else right


def _unavailable(name: str) -> GradstepError:
    return GradstepError(
        f"device '{name}' is not available in this engine",
        kind="UnavailableError",
        hint="start the engine with main.py, which knows the other devices",
    )
