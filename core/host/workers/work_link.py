"""What work in another process knows of who asked for it: whether it is to end, and whom to tell.

Loads no NumPy, whose threads would be there before a process is confined.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gradstep.core.errors import GradstepError

if TYPE_CHECKING:
    from gradstep.core.host.device_services import DeviceServices

STOPPED = "CancelledError"  # kind of the error of what ended because it was to
News = dict[str, Any]  # of what msgpack holds


def _processor() -> DeviceServices:
    from gradstep.core.host.device_services import CpuOnly

    return CpuOnly()


@dataclass(frozen=True)
class WorkLink:
    """is_stopped: asked now and then, as each 50 steps; report: said as often as people look;
    devices: those of the machine where it is done."""

    is_stopped: Callable[[], bool]
    report: Callable[[News], None]
    devices: Callable[[], DeviceServices] = _processor


_here = threading.local()
_NONE = WorkLink(lambda: False, lambda news: None)


def link() -> WorkLink:
    """That of this thread; one that stops nothing and tells nobody where there is none."""
    found: WorkLink = getattr(_here, "link", _NONE)
    return found


@contextmanager
def linked(to: WorkLink) -> Iterator[None]:
    """Inside, `link()` of this thread is `to`."""
    before = link()
    _here.link = to
    try:
        yield
    finally:
        _here.link = before


def stopped() -> GradstepError:
    """What work raises that ends because it was asked to."""
    return GradstepError("it was ended before its end", kind=STOPPED)
