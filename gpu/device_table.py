"""The table of devices: their names, how each is asked whether it is there, and how it is opened.

A plug-in extends it: an installed package with an entry point in the group `gradstep.devices`,
which leads to a DeviceEntry or to several in a list or tuple.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from gradstep.core.engine.backend import Backend
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.core.ops.declare.system_rules import TF_CPU, Flush, Rules
from gradstep.core.protocol.vocabulary import DeviceKind
from gradstep.gpu.canary import PATIENCE_S
from gradstep.gpu.device_status import DeviceStatus
from gradstep.gpu.emulated_systems import CUPY_NATIVE, NUMPY_NATIVE, PROFILES, TF_ON_GPU
from gradstep.gpu.emulation import EmulatedBackend
from gradstep.gpu.probe import TIMEOUT_S, probe
from gradstep.gpu.torch_probe import KINDS, built_for, probe_torch
from gradstep.gpu.worded_lists import first_line

GROUP = "gradstep.devices"
# TensorFlow's rules for a GPU, followed by PyTorch on one, which flushes no subnormal numbers.
_TF_ON_TORCH = replace(TF_ON_GPU, flush_subnormals=Flush.NEVER, sources=())


@dataclass(frozen=True)
class DeviceEntry:
    """name: as users write it. kind: under which heading it is listed. probe: what is there, after
    so many seconds at most; it raises nothing. open: the backend, of a device that is available
    by this status; it may take its time, and raises GradstepError where it cannot be had. patience:
    how long to wait for the probe where somebody wants to open it. listed: whether it is offered,
    or has to be asked for by its name."""

    name: str
    kind: DeviceKind
    probe: Callable[[float], DeviceStatus]
    open: Callable[[DeviceStatus], Backend]
    patience_s: float = PATIENCE_S
    listed: Callable[[], bool] = lambda: True


def entries() -> dict[str, DeviceEntry]:
    """All of them by name: ours, then what plug-ins bring, which take nothing of ours away."""
    ours = {entry.name: entry for entry in _ours()}
    return ours | {entry.name: entry for entry in _of_plugins() if entry.name not in ours}


def find(name: str) -> DeviceEntry | None:
    """The one called `name`; plug-ins are asked where we have none."""
    return next((e for e in _ours() if e.name == name), None) or entries().get(name)


def _ours() -> Iterator[DeviceEntry]:
    yield _processor("cpu", TF_CPU, "NumPy under TensorFlow's CPU rules")
    yield _processor("cpu:native", NUMPY_NATIVE, NUMPY_NATIVE.source)
    for kind in KINDS:
        yield _torch(kind, f"torch:{kind}", TF_CPU if kind == "cpu" else _TF_ON_TORCH)
        yield _torch(kind, f"torch:{kind}:native", PROFILES["torch"])
    for name, rules in (("gpu", TF_ON_GPU), ("gpu:native", CUPY_NATIVE)):
        yield DeviceEntry(name, "gpu", probe, partial(_open_cupy, name, rules), TIMEOUT_S)
    for rules in PROFILES.values():
        text = f"documented rules of {rules.name}, on NumPy; docs/devices.md says what is measured"
        status = DeviceStatus(True, text=text, source=rules.source)
        yield DeviceEntry(
            f"emulate:{rules.name}", "emulated", _always(status), partial(_open_emulated, rules)
        )


def _always(status: DeviceStatus) -> Callable[[float], DeviceStatus]:
    return lambda patience_s: status


def _processor(name: str, rules: Rules, text: str) -> DeviceEntry:
    status = DeviceStatus(True, text=text)
    return DeviceEntry(name, "cpu", _always(status), lambda status: NumpyBackend(rules, name))


def _open_emulated(rules: Rules, status: DeviceStatus) -> Backend:
    return EmulatedBackend(rules)


def _open_cupy(name: str, rules: Rules, status: DeviceStatus) -> Backend:
    from gradstep.gpu.cupy_backend import CupyBackend

    return CupyBackend(rules, name, status.name)


def _torch(kind: str, name: str, rules: Rules) -> DeviceEntry:
    """Opening waits for the answer, but for the processor's: that is there where PyTorch is."""
    return DeviceEntry(
        name,
        "torch",
        partial(_probe_torch, kind, rules),
        partial(_open_torch, kind, name, rules),
        0.0 if kind == "cpu" else TIMEOUT_S,
        lambda: kind in built_for(),
    )


def _probe_torch(kind: str, rules: Rules, patience_s: float) -> DeviceStatus:
    """What is said of it, and by whose rules it takes indices where these are PyTorch's own."""
    status = probe_torch(kind, patience_s)
    own = status.available and rules is PROFILES["torch"]
    return replace(status, text=f"{status.text}; indices as PyTorch has them") if own else status


def _open_torch(kind: str, name: str, rules: Rules, status: DeviceStatus) -> Backend:
    try:
        from gradstep.gpu.torch_device.torch_backend import open_torch
    except Exception as error:  # whatever a broken installation raises
        raise GradstepError(
            f"PyTorch cannot be imported: {type(error).__name__}: {first_line(str(error))}",
            kind="DeviceNotFoundError",
            hint="install it again; gradstep doctor says how",
        ) from error
    return open_torch(rules, name, KINDS[kind], status.name)


def _of_plugins() -> Iterator[DeviceEntry]:
    for point in entry_points(group=GROUP):
        try:
            yield from _checked(point.load())
        except Exception as error:
            yield _broken(point, error)


def _checked(loaded: Any) -> Iterable[DeviceEntry]:
    several = [loaded] if isinstance(loaded, DeviceEntry) else list(loaded)
    for entry in several:
        if not isinstance(entry, DeviceEntry):
            raise TypeError(f"it gives {type(entry).__name__} where a DeviceEntry should be")
    return several


def _broken(point: EntryPoint, error: Exception) -> DeviceEntry:
    """A plug-in that does not load, as a device that is missing."""
    of = point.dist.name if point.dist is not None else point.value
    said = first_line(str(error))
    text = f"the plug-in {of} brings it, and cannot be loaded: {type(error).__name__}: {said}"
    status = DeviceStatus(False, text=text)
    return DeviceEntry(point.name, "gpu", _always(status), partial(_open_emulated, TF_CPU))
