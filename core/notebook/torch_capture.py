"""A PyTorch model, captured from the Python that it is in, and opened."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from gradstep.core.capture.exporter_files import load_exporter
from gradstep.core.engine.backend import Backend
from gradstep.core.notebook.open_document_session import Session
from gradstep.core.notebook.opening import open_session


def capture(
    model: Any, args: Any, loss: Any, targets: Any, path: str | os.PathLike[str] | None,
    options: dict[str, Any],
) -> Path:  # fmt: skip
    """Write the trace; its path, by default one among the system's temporary files."""
    exporter = load_exporter("torch")
    out = Path(path) if path is not None else _temporary(type(model).__name__)
    exporter.save(out, model, args, loss=loss, targets=targets, **options)
    return out


def _temporary(name: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="gradstep-"))
    return folder / f"{name}.gstrace"


def open_window(path: Path) -> None:
    """The window on a file, in a process that outlives this one."""
    subprocess.Popen(
        [sys.executable, "-P", "-m", "gradstep.main", str(path)], start_new_session=True
    )


def opened(path: Path, memory: int | None, backend: Backend) -> Session:
    return open_session(path, False, None, memory, backend)
