"""Drawings of a graph: pictures, and text for Graphviz. What is drawn cannot be read again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradstep.core.io.format_record import Format
from gradstep.core.io.sniff import file_signatures as signs

if TYPE_CHECKING:
    from gradstep.core.document.document import Document


def _write_dot(document: Document) -> bytes:
    from gradstep.core.io.graphviz import to_dot

    return to_dot(document)


FORMATS = (
    Format(
        "picture",
        "a picture",
        signs.begins(b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF8", b"<svg"),
        suffixes=(".png", ".svg"),
        title="Pictures",
        is_drawn=True,
        keeps=None,
        todo="it can be shown, not run: open the document that it was made of",
    ),
    Format("pdf", "a PDF document", signs.begins(b"%PDF")),
    Format(
        "graphviz",
        "a drawing for Graphviz",
        signs.says(r"(strict\s+)?(di)?graph\b"),
        suffixes=(".dot",),
        title="Graphviz",
        write=_write_dot,
        keeps=None,
        todo="open the document that it was made of",
    ),
)
