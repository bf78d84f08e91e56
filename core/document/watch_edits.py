"""What is watched: expressions that are shown wherever the debugger stops."""

from __future__ import annotations

from dataclasses import replace

from gradstep.core.debug.breaks.expression import parse
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import way_to
from gradstep.core.graph.model import Graph, TensorRef


def add_watch(document: Document, text: str) -> Document:
    """Watch an expression; the name of a tensor alone means its value. The very same document where
    it is watched already. Raises GradstepError for what cannot be read."""
    text = watched_expression(document.graph, text)
    if text in document.watches:
        return document
    return replace(document, watches=(*document.watches, text))


def set_watch(document: Document, place: int, text: str) -> Document:
    """Another expression in the place of one. Raises GradstepError for what cannot be read."""
    watches = [*document.watches]
    watches[place] = watched_expression(document.graph, text)
    return replace(document, watches=tuple(dict.fromkeys(watches)))


def remove_watch(document: Document, place: int) -> Document:
    """The others stay as they are."""
    return replace(document, watches=(*document.watches[:place], *document.watches[place + 1 :]))


def watched_expression(graph: Graph, text: str) -> str:
    """`text`, or, where it is nothing but the name of a tensor, x["text"]. Raises GradstepError for
    what cannot be read."""
    text = text.strip()
    if names_tensor(graph, text):
        text = f'x["{TensorRef.parse(text)}"]'
    parse(text)
    return text


def names_tensor(graph: Graph, text: str) -> bool:
    """Whether it is the name of a tensor, and no expression: one of an operation that is there."""
    try:
        return way_to(graph, TensorRef.parse(text).op) is not None
    except GradstepError:
        return False
