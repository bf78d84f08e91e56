"""HTML for notebooks: a document's picture, or its operations as a table.

No text of a document is markup in it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from html import escape

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Graph

_LOG = logging.getLogger(__name__)
_DRAWN = 2_000  # operations, and
_LONGEST = 4 << 20  # characters of a picture: what is larger makes a notebook slow to open
_ROWS = 40


def show_document(document: Document, caption: str, draw: Callable[[], str]) -> str:
    """The document as a notebook shows it, below a caption: the picture that `draw` makes."""
    shown = _picture(document, draw) or _operations(document.graph)
    return f"<div><p>{escape(caption)}</p>{shown}</div>"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of plain texts."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _picture(document: Document, draw: Callable[[], str]) -> str:
    """The picture; "" where there is none, and where it is too large."""
    if not 0 < len(document.graph) <= _DRAWN:
        return ""
    try:
        picture = draw()
    except GradstepError as error:
        _LOG.warning("%s", error)
        return ""
    return picture if len(picture) <= _LONGEST else ""


def _operations(graph: Graph) -> str:
    """The first operations, where they cannot be drawn."""
    listed = [*graph][:_ROWS]
    rows = [
        [op.name, op.type, ", ".join(r.short if r else "?" for r in op.inputs)] for op in listed
    ]
    left = len(graph) - len(listed)
    more = f"<p>and {left:,} more</p>" if left else ""
    return _table(["operation", "type", "inputs"], rows) + more
