"""Edits that mend what a lint found: simple ones, which leave nothing to be chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from gradstep.core.document import document_edits
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.unlinted import UNLINTED, with_exempt

RemedyKind = Literal[
    "run",
    "unwait",
    "unstop",
    "unbend",
    "rewire",
    "log_softmax",
    "cast_first",
    "leak",
    "scale",
    "expand",
]


@dataclass(frozen=True, slots=True)
class Remedy:
    """kind: let every run execute operations, take a wait away, take a stop off a tensor or a wire,
    switch an override off. names: of "run" all operations that runs are to execute; of "unwait"
    what is waited for and who waits; of "unstop" a tensor ("a:0") or a wire ("a<1"); of "unbend"
    the gradient, the target and the kind of target. The others, and `edit_by_name`, which makes
    all of them, are in gradstep.core.document.named_edits."""

    kind: RemedyKind
    names: tuple[str, ...]


LABELS: Mapping[str, str] = {
    "run": "Let every run execute it",
    "unwait": "Take the wait away",
    "unstop": "Take the stop away",
    "unbend": "Switch the override off",
}


def mend(document: Document, kind: str, names: Sequence[str]) -> Document:
    """The document after the edit; the same where there is nothing left to do. Raises GradstepError
    for a kind that there is not, and for what is not in the graph any more."""
    try:
        edit = _EDITS[kind]
    except KeyError:
        raise GradstepError(
            f"there is no edit '{kind}'", kind="ValueError", hint="it may be of a newer version"
        ) from None
    return edit(document, names)


def exempt(document: Document, node: str, code: str) -> Document:
    """The document, whose operation `node` that lint says nothing about any more. Raises
    GradstepError where there is no such operation."""
    value = with_exempt(document.graph[node], code)
    return document_edits.set_attr(document, node, UNLINTED, value)


def _run(document: Document, names: Sequence[str]) -> Document:
    named = (document.graph[name].name for name in names)
    targets = tuple(dict.fromkeys((*document.targets, *named)))
    return document if targets == document.targets else document.with_(targets=targets)


def _unwait(document: Document, names: Sequence[str]) -> Document:
    first, name = names
    return document_edits.remove_control(document, name, first)


def _unstop(document: Document, names: Sequence[str]) -> Document:
    request, (at,) = document.request, names
    stops = frozenset(ref for ref in request.stops if str(ref) != at)
    wires = frozenset(wire for wire in request.stopped_edges if str(wire) != at)
    return document.with_(request=replace(request, stops=stops, stopped_edges=wires))


def _unbend(document: Document, names: Sequence[str]) -> Document:
    request, off = document.request, tuple(names)
    overrides = tuple(
        replace(o, enabled=False) if (o.gradient, o.target, o.kind.value) == off else o
        for o in request.overrides
    )
    return document.with_(request=replace(request, overrides=overrides))


_EDITS: Mapping[str, Callable[[Document, Sequence[str]], Document]] = {
    "run": _run,
    "unwait": _unwait,
    "unstop": _unstop,
    "unbend": _unbend,
}
