"""Recordings of devices (.gradrec), for all who meet one: how it is called, and what is inside."""

from __future__ import annotations

from pathlib import PurePath

SUFFIX = ".gradrec"
MEMBER, DOCUMENT = "recording.json", "document.gradstep"
WHAT = "a recording of a device"
TODO = f"choose another file, or make one: gradstep compare FILE --against gpu --record OUT{SUFFIX}"


def is_recording(name: str) -> bool:
    """Whether the name of a device is a file of what one gave."""
    return PurePath(name).suffix.lower() == SUFFIX
