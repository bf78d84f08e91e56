"""Which files a dialog shows, by format, and what names without a suffix stand for there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from gradstep.core.io.device_recordings import SUFFIX as RECORDING
from gradstep.core.io.device_recordings import is_recording
from gradstep.core.io.format_table import formats, suffixes_opened, titles
from gradstep.core.io.formats.gradstep_document import SUFFIX, is_named_as_own


def open_filter() -> str:
    """Graphs of every format that is read, or all files: they are known by what is in them."""
    return f"{_line('Graphs', suffixes_opened())};;All files (*)"


def checkpoint_filter() -> str:
    """Files that hold variables by name."""
    return f"{_line('Checkpoints', ('.index', '.npz', '.safetensors'))};;All files (*)"


def save_filter() -> str:
    """Gradstep's own documents."""
    return _lines(titles(each for each in formats() if each.is_native))


def export_filter() -> str:
    """Pictures first, one of which is suggested; then every other format that is written."""
    drawn = titles(each for each in formats() if each.is_drawn)
    return _lines(drawn | titles(each for each in formats() if each.write and not each.is_native))


def smallest_filter() -> str:
    """Every format that is written, Gradstep's own first."""
    return _lines(titles(each for each in formats() if each.write))


def with_own_suffix(path: Path, line: str) -> Path:
    """Save writes nothing but Gradstep's own documents."""
    return path if is_named_as_own(path) else path.with_name(f"{path.name}{SUFFIX}")


def with_suffix_of(path: Path, line: str) -> Path:
    """A name without a suffix gets the first one of a dialog's line; one that has the end of that
    alone, as ".py" of "*.torch.py", all of it."""
    first = re.search(r"\*(\.[\w.]+)", line)
    if first is None or path.name.lower().endswith(first[1]):
        return path
    if not path.suffix:
        return path.with_name(f"{path.name}{first[1]}")
    is_end = first[1].endswith(path.suffix.lower())
    return path.with_name(f"{path.stem}{first[1]}") if is_end else path


def recording_filter() -> str:
    """What a device gave."""
    return _line("Recordings of devices", (RECORDING,))


def python_filter() -> str:
    """A module of Python."""
    return _line("Python", (".py",))


def with_recording_suffix(path: Path, line: str) -> Path:
    """A recording is named as one."""
    return path if is_recording(path.name) else path.with_name(f"{path.name}{RECORDING}")


def _lines(named: dict[str, list[str]]) -> str:
    return ";;".join(_line(title, suffixes) for title, suffixes in named.items())


def _line(title: str, suffixes: Iterable[str]) -> str:
    return f"{title} ({' '.join(f'*{suffix}' for suffix in suffixes)})"
