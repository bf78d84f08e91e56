"""Files of the user's are written in one way: see gradstep.core.io.disk.atomic_write."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# What writes for itself, and why it may.
ALLOWED = {
    "core/io/disk/atomic_write.py": "it is the way",
    "core/io/disk/in_place_write.py": "the way, for what cannot be replaced",
    "core/io/edit_journal.py": "adds to a file of its own",
    "core/io/disk/file_claims.py": "lock files, which are empty",
    "core/host/tensors/tensor_files.py": "an archive, into the stream that it is given",
    "core/io/event_files.py": "adds to a file of its own that others read meanwhile",
    "core/sweep/sweep_folder.py": "adds to files of its own that others read meanwhile",
    "core/cli/command_line.py": "standard output, in place of a pipe that is closed",
    "core/reference/__main__.py": "a tool that writes this repository's docs",
    "core/io/disk/file_lock.py": "lock files, which are empty",
    "core/program/trust/trust_store.py": "a key that nobody else may read from its first byte on",
    "core/host/process/standard_streams.py": "a pipe",
    "core/protocol/message_recording.py": "a file of its own that grows as messages pass",
}
_NAMES = ("write_bytes", "write_text", "mkstemp", "NamedTemporaryFile", "savez", "tofile")
_LIKELY = re.compile(rf"open\(|{'|'.join(_NAMES)}")  # parsing all there is takes seconds


def writes(tree: ast.AST) -> Iterator[int]:
    """Lines that write a file, or open one to be written."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        given = [*node.args, *(k.value for k in node.keywords if k.arg == "mode")]
        words = [a.value for a in given if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        flags = {n.attr for a in node.args for n in ast.walk(a) if isinstance(n, ast.Attribute)}
        if name in _NAMES or (
            name in ("open", "fdopen")
            and (any(_is_mode(word) for word in words) or flags & {"O_WRONLY", "O_RDWR"})
        ):
            yield node.lineno


def _is_mode(word: str) -> bool:
    return 0 < len(word) <= 3 and set(word) <= set("rwaxbt+") and bool(set(word) & set("wax+"))


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("path.write_bytes(b'')", True),
        ("open(path, 'wb')", True),
        ("path.open(mode='a')", True),
        ("os.open(path, os.O_RDWR | os.O_CREAT)", True),
        ("np.savez(path, a)", True),
        ("open(path, 'rb')", False),
        ("open(path)", False),
        ("stream.write(b'')", False),
    ],
)
def test_what_counts_as_writing(code: str, found: bool) -> None:
    assert bool(list(writes(ast.parse(code)))) == found


@pytest.mark.slow
def test_all_files_are_written_in_one_way() -> None:
    found = {}
    for folder in ("core", "gui", "gpu"):
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text("utf-8")
            if _LIKELY.search(text) and list(writes(ast.parse(text))):
                found[path.relative_to(ROOT).as_posix()] = list(writes(ast.parse(text)))
    assert {name: lines for name, lines in found.items() if name not in ALLOWED} == {}
    assert set(ALLOWED) <= set(found), "what is allowed and does not write any more"
