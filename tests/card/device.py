"""The device that is tried: a card, this processor in a card's place, or the quick stand-in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from gradstep.core.ops.declare.system_rules import TF_CPU, Rules
from gradstep.gpu.cupy_backend import CupyBackend
from gradstep.gpu.emulated_systems import TF_ON_GPU

KINDS = ("card", "host", "fake", "torch")
COUNTED = ("launches", "waits", "copies")


def _nothing() -> dict[str, int]:
    return {}


@dataclass(frozen=True)
class Device:
    """kind: one of KINDS. xp: CuPy, or what stands for it. count: how often kernels were launched,
    the host waited and memory was copied so far, where that can be counted; else empty."""

    kind: str
    name: str
    xp: Any
    count: Callable[[], dict[str, int]] = _nothing

    rules: Rules = TF_ON_GPU

    def backend(self) -> Any:
        """Gradstep's own backend on it."""
        return CupyBackend(self.rules, "gpu", self.name, self.xp)

    def sync(self) -> None:
        """Wait for it. Raises whatever went wrong there and was not heard of yet."""
        self.xp.cuda.get_current_stream().synchronize()

    def free(self) -> None:
        """Give back the memory that nothing uses any more."""
        if self.kind != "fake":
            self.xp.get_default_memory_pool().free_all_blocks()

    def counted(self, before: dict[str, int]) -> dict[str, int]:
        """What was counted since `before`, which `count` gave."""
        return {name: n - before[name] for name, n in self.count().items()}


@dataclass(frozen=True)
class TorchDevice(Device):
    """The processor, by PyTorch. Counted is how often it computed, and the host waited."""

    def backend(self) -> Any:
        from gradstep.gpu.torch_device.torch_backend import open_torch

        return open_torch(self.rules, "torch:cpu", "cpu", self.name)

    def sync(self) -> None:
        """Nothing is ever under way."""

    def free(self) -> None:
        """Memory is given back at once."""


def open_device(kind: str) -> Device:
    """Raises whatever the library says where there is none; RuntimeError for a stand-in that is
    not built."""
    if kind == "fake":
        from tests.support.fake_cupy import FakeCupy

        return Device(kind, "a card that does not exist", FakeCupy())
    if kind == "host":
        from tests.support.hostcuda import hostcuda

        xp = hostcuda.install()
        return Device(kind, _name(xp), xp, hostcuda.counters)
    if kind == "torch":
        from dataclasses import asdict

        from gradstep.gpu.torch_device.counts import COUNTS

        count = partial(asdict, COUNTS)
        return TorchDevice(kind, "this processor", None, count, rules=TF_CPU)
    import cupy

    return Device(kind, _name(cupy), cupy)


def _name(xp: Any) -> str:
    return str(xp.cuda.runtime.getDeviceProperties(0)["name"].decode())
