"""docs/examples.md: every example by group, with its picture and what it is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path

from gradstep.core.document.document import Document
from gradstep.core.program.trust.example_index import first_sentence

PAGE = Path(__file__).parents[2] / "docs" / "examples.md"

HEAD = """\
# Examples

The start page opens them. Each says in its note what to look at, and in the file what its runs
give: `gradstep check FILE` holds them to it, and `./dev examples` does so for all, in the window.
This page is written with them, by `python -m tests.examples.build`.
"""


def page(documents: Mapping[str, Document]) -> str:
    """The whole page."""
    parts = [HEAD]
    for group, members in groupby(documents.items(), lambda pair: pair[1].group):
        parts += [f"## {group}", *_entries(members)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _entries(members: Iterable[tuple[str, Document]]) -> Iterable[str]:
    for name, document in members:
        small = f"../assets/examples/pictures/{name}-light.webp"
        picture = f'<img src="{small}" width="272" alt="The graph of {name}">'
        yield f"**{document.title}** ([{name}](../assets/examples/{name}.gradstep))"
        yield f"[{picture}](images/examples/{name}.png)"
        yield first_sentence(document.note)
        if document.truth:
            yield _quoted(f"Often said: {document.claim}", f"In fact: {document.truth}")


def _quoted(*paragraphs: str) -> str:
    return "\n>\n".join(f"> {' '.join(text.split())}" for text in paragraphs)
