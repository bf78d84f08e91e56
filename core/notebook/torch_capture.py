"""A PyTorch model, captured from the Python that it is in."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from gradstep.core.capture.exporter_files import load_exporter
from gradstep.core.notebook.captured_file import temporary_trace


def capture(
    model: Any, args: Any, loss: Any, targets: Any, path: str | os.PathLike[str] | None,
    options: dict[str, Any],
) -> Path:  # fmt: skip
    """Write the trace; its path, by default one among the system's temporary files."""
    exporter = load_exporter("torch")
    out = Path(path) if path is not None else temporary_trace(type(model).__name__)
    exporter.save(out, model, args, loss=loss, targets=targets, **options)
    return out
