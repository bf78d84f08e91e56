"""What PyTorch computes on here: asked in a process of its own, for it takes seconds to import."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, partial

from gradstep.core.installation import extra_command
from gradstep.gpu.canary import CONFINED, DRIVER, PATIENCE_S, Awaited, last_line, sing
from gradstep.gpu.device_status import DeviceStatus
from gradstep.gpu.worded_lists import first_line

TIMEOUT_S = 120.0  # an import on a cold disk, and a first context
# Ours -> PyTorch's name of a device: AMD's cards have NVIDIA's.
KINDS = {"cpu": "cpu", "mps": "mps", "xpu": "xpu", "cuda": "cuda", "hip": "cuda"}
_HARDWARE = {
    "mps": "an Apple GPU",
    "xpu": "an Intel GPU",
    "cuda": "an NVIDIA GPU",
    "hip": "an AMD GPU",
}
UNTESTED = "untested: Gradstep has been tried on torch:cpu and torch:cuda alone"
TRIED = ("cpu", "cuda")  # ./dev torch, and ./dev gpu --verify --torch on a card

_CANARY = (
    DRIVER
    + """
import json
try:
    import torch
    xpu = getattr(torch, "xpu", None)
    built = {
        "mps": torch.backends.mps.is_built(),
        "xpu": bool(xpu) and getattr(xpu, "_is_compiled", bool)(),
        "cuda": bool(torch.version.cuda),
        "hip": bool(torch.version.hip),
    }
    def tried(name, kind):
        try:
            x = torch.arange(6, dtype=torch.float32, device=kind)
            y = torch.zeros(3, device=kind)
            y.index_put_((torch.tensor([0, 0, 1], device=kind),), torch.ones(3, device=kind), True)
            total = float((x * 2).sum()) + float((x[None] @ x[:, None])[0, 0]) + float(y.sum())
            assert total == 30 + 55 + 3, total
            named = name in ("cuda", "hip", "xpu")
            found = {"name": getattr(torch, kind).get_device_name(0) if named else ""}
            return found | ({"driver": driver()} if name == "cuda" else {})
        except BaseException as error:
            return {"error": type(error).__name__, "text": str(error)}
    found = {"cpu": tried("cpu", "cpu")}
    for name, there in built.items():
        if there:
            found[name] = tried(name, "cuda" if name == "hip" else name)
    print(json.dumps({"version": torch.__version__, "devices": found}))
except BaseException as error:
    print(json.dumps({"error": type(error).__name__, "text": str(error)}))
"""
)


@dataclass(frozen=True)
class TorchAnswer:
    """version: PyTorch's; devices: our name of each that it is built for -> what trying it gave;
    error: why it cannot be imported, "" where it can; confined: it could not be asked."""

    version: str = ""
    devices: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    error: str = ""
    confined: bool = False


def is_installed() -> bool:
    return importlib.util.find_spec("torch") is not None


def probe_torch(name: str, patience_s: float = PATIENCE_S) -> DeviceStatus:
    """What is known of "torch:`name`" after so many seconds at most. The processor is taken for
    granted while PyTorch has not answered."""
    if not is_installed():
        command = extra_command("torch")
        return DeviceStatus(False, text=f"PyTorch is not installed: {command}", commands=(command,))
    answer = asked().within(patience_s)
    if answer is None:
        return _while_asking(name)
    return status_of(name, answer)


def status_of(name: str, answer: TorchAnswer) -> DeviceStatus:
    """What PyTorch's answer means for one of its devices."""
    if answer.error:
        return DeviceStatus(False, text=f"PyTorch is installed, but {answer.error}")
    tried = answer.devices.get(name)
    with_it = f"PyTorch {answer.version}"
    if tried is None and answer.confined:
        return DeviceStatus(False, text=f"{with_it} is installed, but {CONFINED}")
    if tried is None:
        return DeviceStatus(False, text=f"{with_it} is not built for {_HARDWARE[name]}")
    if "error" in tried:
        said = first_line(tried["text"]) or tried["error"]
        where = _HARDWARE.get(name, "this processor")
        return DeviceStatus(False, text=f"{with_it} does not compute on {where}: {said}")
    if name == "cpu":
        return DeviceStatus(True, "this processor", f"{with_it} on this processor")
    machine = tried["name"] or _HARDWARE[name]
    driver = f", driver {tried['driver']}" if tried.get("driver") else ""
    text = f"{with_it} on {machine}{driver}"
    return DeviceStatus(True, machine, text if name in TRIED else f"{text}; {UNTESTED}")


def built_for() -> list[str]:
    """The names of devices that PyTorch here is known to be built for; the processor's at least."""
    answer = asked().within(0) if is_installed() else None
    return ["cpu"] if answer is None or not answer.devices else [*answer.devices]


@cache
def asked() -> Awaited[TorchAnswer]:
    """The canary of this process, that sings once."""
    return Awaited(partial(ask, _CANARY, TIMEOUT_S))


def ask(canary: str, timeout_s: float) -> TorchAnswer:
    """Run `canary` (Python text) in a process of its own, for at most so many seconds."""
    try:
        said = sing(canary, timeout_s)
    except OSError:
        version = importlib.metadata.version("torch")
        return TorchAnswer(version, {"cpu": {"name": ""}}, confined=True)
    if said is None:
        return TorchAnswer(error=f"did not answer within {timeout_s:g} s")
    return read_answer(*said)


def read_answer(output: str, status: int) -> TorchAnswer:
    """What the canary's last line says."""
    said = last_line(output)
    if said is None:
        return TorchAnswer(error=f"ended the process that tried it (exit status {status})")
    if "error" in said:
        return TorchAnswer(error=f"cannot be imported: {said['error']}: {first_line(said['text'])}")
    return TorchAnswer(said["version"], said["devices"])


def _while_asking(name: str) -> DeviceStatus:
    version = importlib.metadata.version("torch")
    if name == "cpu":
        text = f"PyTorch {version} on this processor; still asking what else it computes on"
        return DeviceStatus(True, "this processor", text, asking=True)
    text = f"PyTorch {version} is installed; still asking whether it computes on {_HARDWARE[name]}"
    return DeviceStatus(False, text=text, asking=True)
