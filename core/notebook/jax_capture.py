"""A JAX function, captured from the Python that it is in."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gradstep.core.capture.exporter_files import load_exporter
from gradstep.core.notebook.captured_file import temporary_trace


def capture(
    f: Callable[..., Any],
    args: Sequence[Any],
    wrt: int | Sequence[int],
    path: str | os.PathLike[str] | None,
    values: bool,
) -> Path:
    """Write the trace; its path, by default one among the system's temporary files."""
    exporter = load_exporter("jax")
    out = Path(path) if path is not None else temporary_trace(getattr(f, "__name__", "function"))
    exporter.save(out, f, *args, wrt=wrt, values=values)
    return out
