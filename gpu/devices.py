"""Every device by name, as the command line and the engine process ask for them."""

from __future__ import annotations

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.core.protocol.messages import Comparison, DeviceInfo
from gradstep.gpu.compare import compare
from gradstep.gpu.emulated_systems import CUPY_NATIVE, NUMPY_NATIVE, PROFILES, TF_ON_GPU
from gradstep.gpu.emulation import EmulatedBackend
from gradstep.gpu.probe import probe
from gradstep.gpu.recorded_comparison import RECORDED, compare_recorded


class Devices:
    """See gradstep.core.host.device_services.DeviceServices."""

    def open_backend(self, name: str) -> Backend:
        """The backend called `name`. Raises GradstepError for one that is unknown or missing."""
        kind, _, option = name.partition(":")
        if name in ("", "cpu"):
            return NumpyBackend()
        if name == "cpu:native":
            return NumpyBackend(NUMPY_NATIVE, name)
        if kind == "emulate" and option in PROFILES:
            return EmulatedBackend(PROFILES[option])
        if name in ("gpu", "gpu:native"):
            return self._gpu(name)
        raise GradstepError(
            f"there is no device '{name}'",
            kind="ValueError",
            hint=f"cpu, gpu, either with :native, or emulate: with one of {', '.join(PROFILES)}",
        )

    def compare(self, program: Program, left: str, right: str) -> Comparison:
        """`program` on two devices by name, node by node; what was recorded is one."""
        if RECORDED in (left, right):
            live = self.open_backend(right if left == RECORDED else left)
            return compare_recorded(program, live)
        return compare(program, self.open_backend(left), self.open_backend(right))

    def describe(self) -> list[DeviceInfo]:
        """All devices: what is there, and for what is not, how to get it."""
        gpu = probe()
        cpu = "NumPy under TensorFlow's CPU rules"
        listed = [
            DeviceInfo(name="cpu", kind="cpu", available=True, text=cpu),
            DeviceInfo(name="cpu:native", kind="cpu", available=True, text=NUMPY_NATIVE.source),
        ]
        listed += [
            DeviceInfo(
                name=name,
                kind="gpu",
                available=gpu.available,
                text=gpu.text,
                commands=list(gpu.commands),
            )
            for name in ("gpu", "gpu:native")
        ]
        for rules in PROFILES.values():
            text = f"documented rules of {rules.name}, on NumPy; never measured"
            name = f"emulate:{rules.name}"
            listed.append(
                DeviceInfo(
                    name=name, kind="emulated", available=True, text=text, source=rules.source
                )
            )
        return listed

    def _gpu(self, name: str) -> Backend:
        status = probe()
        if not status.available:
            raise GradstepError(
                f"this machine has no GPU that Gradstep can use: {status.text}",
                kind="DeviceNotFoundError",
                hint="emulate:tf-gpu imitates one by its documented rules",
            )
        from gradstep.gpu.cupy_backend import CupyBackend

        rules = CUPY_NATIVE if name == "gpu:native" else TF_ON_GPU
        return CupyBackend(rules, name, status.name)
