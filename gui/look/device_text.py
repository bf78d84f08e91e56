"""What devices are called in the window, where there is room and where there is not."""

from __future__ import annotations

from functools import lru_cache
from pathlib import PurePath

from gradstep.core.io.device_recordings import is_recording
from gradstep.core.protocol.device_names import RECORDED_DEVICE


def device_words(device: str) -> str:
    """Alone: "CPU", "GPU (native)", "tf-gpu (emulated)", "torch:cpu", "recorded"; of a recording
    its file's name."""
    kind, _, profile = device.partition(":")
    if kind == "emulate":
        return f"{device_label(device)} (emulated)"
    if kind in ("cpu", "gpu") and profile:
        return f"{kind.upper()} ({profile})"
    return device_label(device)


@lru_cache(maxsize=256)  # said again at each edit and step
def device_label(device: str) -> str:
    """Beside others, where what is emulated is marked: `cpu` as "CPU", `emulate:tf-gpu` as
    "tf-gpu", a recording by its file, others as they are."""
    if device == RECORDED_DEVICE:
        return device
    if is_recording(device):
        return PurePath(device).stem
    return {"cpu": "CPU", "gpu": "GPU"}.get(device, device.removeprefix("emulate:"))
