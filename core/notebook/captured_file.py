"""What was captured from the Python that it is in: where it lies, and opened in both ways."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from gradstep.core.host.device_services import DeviceServices
from gradstep.core.notebook.open_document_session import Session
from gradstep.core.notebook.opening import open_session


def temporary_trace(name: str) -> Path:
    """A path for it among the system's temporary files."""
    folder = Path(tempfile.mkdtemp(prefix="gradstep-"))
    return folder / f"{name}.gstrace"


def open_window(path: Path) -> None:
    """The window on a file, in a process that outlives this one."""
    subprocess.Popen(
        [sys.executable, "-P", "-m", "gradstep.main", str(path)], start_new_session=True
    )


def opened(path: Path, memory: int | None, devices: DeviceServices, device: str) -> Session:
    return open_session(path, False, None, memory, devices, device)
