"""The constants of a small document cut down to the elements that matter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from gradstep.core.document.document import Document
from gradstep.core.graph.model import Constant, Graph

Shows = Callable[[Document], bool]
Place = tuple[str, int]  # a constant and one of its axes
_MOST = 100  # documents that are tried


def with_smaller_tensors(document: Document, shows: Shows) -> Document:
    """Halves axes, of all constants that are as long there or of one alone, while `shows` holds."""
    tried = 0
    while True:
        for smaller in _smaller(document):
            tried += 1
            if tried > _MOST:
                return document
            if shows(smaller):
                document = smaller
                break
        else:
            return document


def _smaller(document: Document) -> Iterator[Document]:
    """Half of it, the greatest axes first."""
    lengths: dict[int, list[Place]] = {}
    for name, array in _constants(document).items():
        for axis, length in enumerate(array.shape):
            if length > 1:
                lengths.setdefault(length, []).append((name, axis))
    for length in sorted(lengths, reverse=True):
        together = lengths[length]
        alone = [[place] for place in together] if len(together) > 1 else []
        for places in (together, *alone):
            half = length // 2
            for part in (slice(0, half), slice(half, length)):
                yield _cut(document, places, part)


def _constants(document: Document) -> dict[str, np.ndarray]:
    values = {op.name: op.attrs["value"] for op in document.graph if op.type == "Const"}
    return {name: value.array for name, value in values.items() if isinstance(value, Constant)}


def _cut(document: Document, places: list[Place], part: slice) -> Document:
    arrays = _constants(document)
    for name, axis in places:
        arrays[name] = arrays[name][(slice(None),) * axis + (part,)]
    changed = {
        name: replace(
            document.graph[name],
            attrs={**document.graph[name].attrs, "value": Constant(np.ascontiguousarray(array))},
        )
        for name, array in arrays.items()
        if name in {each for each, _ in places}
    }
    return document.with_(graph=Graph({**document.graph.operations, **changed}))
