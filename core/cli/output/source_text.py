"""The line of another program that an operation is from, for the command line."""

from __future__ import annotations

from gradstep.core.document.document import Document
from gradstep.core.graph.foreign_origin import foreign_origin


def source_line(document: Document, node: str | None) -> str:
    """As "net.py:12: y = self.norm(x)"; without the text where the file is not in the document;
    "" for what was never another program's."""
    op = document.graph.operations.get(node or "")
    origin = None if op is None else foreign_origin(op)
    if origin is None or not origin.file:
        return ""
    run = document.recorded
    lines = (run.sources.get(origin.file, "") if run is not None else "").splitlines()
    text = lines[origin.line - 1].strip() if origin.line <= len(lines) else ""
    return f"{origin.file}:{origin.line}" + (f": {text}" if text else "")
