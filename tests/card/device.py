"""The device that is tried: a card, by CuPy or PyTorch, this processor in its place, or the quick
stand-in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from gradstep.core.ops.declare.system_rules import TF_CPU, Rules
from gradstep.gpu.cupy_backend import CupyBackend
from gradstep.gpu.devices import Devices
from gradstep.gpu.emulated_systems import TF_ON_GPU

KINDS = ("card", "host", "fake", "torch", "torch-cuda")
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

    @property
    def name_in_graphs(self) -> str:
        """As users write it."""
        return "gpu"

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

    def limit(self, size: int) -> None:
        """Let no more than `size` bytes be taken of its memory; 0: all there is."""
        pool = self.xp.get_default_memory_pool()
        pool.free_all_blocks()
        pool.set_limit(size=size)

    def trap(self) -> None:
        """End its context, for good, with a statement that ends the kernel and writes nowhere."""
        self.xp.RawKernel('extern "C" __global__ void trap() { __trap(); }', "trap")((1,), (1,), ())

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

    @property
    def name_in_graphs(self) -> str:
        return "torch:cpu"


@dataclass(frozen=True)
class TorchCard(Device):
    """A card, by PyTorch, opened as users open it."""

    @property
    def name_in_graphs(self) -> str:
        return "torch:cuda"

    def backend(self) -> Any:
        return _DEVICES.open_backend(self.name_in_graphs)

    def sync(self) -> None:
        self.xp.cuda.synchronize()

    def free(self) -> None:
        self.xp.cuda.empty_cache()

    def limit(self, size: int) -> None:
        self.free()
        total = self.xp.cuda.get_device_properties(0).total_memory
        self.xp.cuda.set_per_process_memory_fraction(size / total if size else 1.0)

    def trap(self) -> None:
        self.xp._assert_async(self.xp.zeros(1, device="cuda"))


_DEVICES = Devices()
# What one run may use beside a device of each kind: the same card, by another library.
_BESIDE = {"card": ("torch:cuda",), "torch-cuda": ("gpu",)}


def others_beside(device: Device) -> dict[str, Any]:
    """Backends of the machine's other devices, by name."""
    return {name: _DEVICES.open_backend(name) for name in _BESIDE.get(device.kind, ())}


def kind_for(kind: str, library: str) -> str:
    """The kind of device that a task of `library` is tried on, where the machine's is `kind`."""
    return "torch-cuda" if (kind, library) == ("card", "torch") else kind


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
    if kind == "torch-cuda":
        import torch

        return TorchCard(kind, torch.cuda.get_device_name(0), torch)
    import cupy

    return Device(kind, _name(cupy), cupy)


def _name(xp: Any) -> str:
    return str(xp.cuda.runtime.getDeviceProperties(0)["name"].decode())
