"""What time is read from: a card's events, and this machine's clock after waiting for the card."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from tests.card.device import Device

_BUSY = 2048  # a side of the matrices whose product keeps a card busy


def _nothing() -> None:
    return None


@dataclass(frozen=True)
class Clock:
    """wait: until all is done that was asked for. event: makes one; mark: records it on the stream
    that work goes to; between: seconds from one to another, both past; None where there are no
    events. busy: gives the device some work. free: gives back memory that nothing uses."""

    wait: Callable[[], object] = _nothing
    event: Callable[[], Any] | None = None
    mark: Callable[[Any], object] | None = None
    between: Callable[[Any, Any], float] | None = None
    busy: Callable[[], object] | None = None
    free: Callable[[], object] = _nothing

    def warm(self, seconds: float) -> None:
        """Keep the device at work, so that it runs at the rate that it keeps up."""
        end = time.perf_counter() + seconds
        while self.busy is not None and time.perf_counter() < end:
            self.busy()
            self.wait()


def cupy_clock(device: Device) -> Clock:
    """Of the stream that CuPy's current one is: kernels, copies and events all go to it."""
    if device.kind == "fake":
        return Clock(device.sync)
    xp = device.xp

    def mark(event: Any) -> None:
        event.record(xp.cuda.get_current_stream())

    def between(first: Any, second: Any) -> float:
        return float(xp.cuda.get_elapsed_time(first, second)) / 1e3

    busy = None
    if device.kind == "card":
        room = xp.ones((_BUSY, _BUSY), xp.float32)
        busy = partial(xp.matmul, room, room)
    return Clock(device.sync, xp.cuda.Event, mark, between, busy, device.free)


def torch_clock(on: str) -> Clock:
    """Of the stream that PyTorch's current one is."""
    if on != "cuda":
        return Clock()
    import torch

    def event() -> Any:
        return torch.cuda.Event(enable_timing=True)

    def mark(event: Any) -> None:
        event.record()

    def between(first: Any, second: Any) -> float:
        return float(first.elapsed_time(second)) / 1e3

    room = torch.ones(_BUSY, _BUSY, device=on)
    wait = torch.cuda.synchronize
    busy = partial(torch.matmul, room, room)
    return Clock(wait, event, mark, between, busy, torch.cuda.empty_cache)
