"""The file `checkpoint` in a folder of TensorFlow's checkpoints: which there are, and the newest.

Source: tensorflow/python/training/checkpoint_state.proto (Apache 2.0), as text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from gradstep.core.io.disk.atomic_write import replace_file
from gradstep.core.io.disk.file_bytes import read_file
from gradstep.core.io.disk.memory_budget import Budget

STATE = "checkpoint"
_NEWEST = re.compile(rb'^\s*model_checkpoint_path\s*:\s*"((?:[^"\\\n]|\\.)*)"', re.MULTILINE)
_ESCAPED = re.compile(rb"\\([0-7]{1,3}|[^0-7])")
_MOST = 16 << 20  # bytes


def write_state(folder: Path, names: Sequence[str]) -> None:
    """Say which checkpoints there are, by their names in the folder, the newest last. Raises
    GradstepError (FileError)."""
    lines = [f'model_checkpoint_path: "{_quoted(names[-1])}"'] if names else []
    lines += [f'all_model_checkpoint_paths: "{_quoted(name)}"' for name in names]
    replace_file(folder / STATE, "".join(f"{line}\n" for line in lines).encode())


def newest_in(folder: Path) -> Path | None:
    """What the files of the newest checkpoint begin with; None where nothing is said of one. Raises
    GradstepError (FileError)."""
    if not (folder / STATE).is_file():
        return None
    found = _NEWEST.search(read_file(folder / STATE, Budget(_MOST)))
    return None if found is None else folder / _plain(found[1])


def _quoted(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _plain(text: bytes) -> str:
    """What stands between quotes; other characters than ASCII may come as their bytes, in octal."""
    return _ESCAPED.sub(_byte, text).decode("utf-8", "replace")


def _byte(found: re.Match[bytes]) -> bytes:
    escaped = found[1]
    if escaped[0] in b"01234567":
        return bytes([int(escaped, 8) & 0xFF])
    return {b"n": b"\n", b"t": b"\t", b"r": b"\r"}.get(escaped, escaped)
