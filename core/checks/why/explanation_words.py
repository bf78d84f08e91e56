"""How explanations say numbers, elements and places."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradstep.core.graph.number_kinds import kind_of

Index = tuple[int, ...]


def number(x: Any) -> str:
    """One element to six digits: "-0.5", "nan", "True"."""
    value = x.item() if isinstance(x, np.ndarray | np.generic) else x
    return f"{value:.6g}" if isinstance(value, float | complex) else str(value)


def place(index: Index | None) -> str:
    """ " at index [0, 3]", or nothing of a scalar."""
    return f" at index {list(index)}" if index else ""


def element(name: str, x: Any, index: Index | None) -> str:
    """ "x = 0": what an operand is at `index` of the result, where it is broadcast to that, else as
    a whole."""
    if not isinstance(x, np.ndarray) or kind_of(x.dtype) not in "biufc":
        return name
    if index is not None and (here := broadcast_index(x.shape, index)) is not None:
        return f"{name} = {number(x[here])}"
    if x.size == 1:
        return f"{name} = {number(x.reshape(()))}"
    return f"{name} {extent(x)}"


def extent(x: np.ndarray) -> str:
    """What the elements of an array have in common, for a sentence: "is 0 throughout"."""
    if x.size == 0:
        return "is empty"
    if kind_of(x.dtype) in "bc":
        same = bool((x == x.flat[0]).all())
        return f"is {number(x.flat[0])} throughout" if same else f"has {x.size} elements"
    low, high = x.min(), x.max()
    if low == high:
        return f"is {number(low)} throughout"
    return f"lies in [{number(low)}, {number(high)}]"


def broadcast_index(shape: Sequence[int], index: Index) -> Index | None:
    """The element of an array of `shape` that goes into element `index` of a result it is broadcast
    to; None where it cannot be."""
    if len(shape) > len(index):
        return None
    last = index[len(index) - len(shape) :]
    if any(i >= size > 1 for i, size in zip(last, shape, strict=True)) or 0 in shape:
        return None
    return tuple(0 if size == 1 else i for i, size in zip(last, shape, strict=True))


def where(within: Iterable[tuple[int, str]]) -> str:
    """ ", in iteration 2 of loop", or nothing outside of loops. within: of each the number, counted
    from 0, and the loop."""
    inside = [f"iteration {count + 1} of {loop}" for count, loop in within]
    return f", in {', '.join(inside)}" if inside else ""


def subject(name: str, within: Iterable[tuple[int, str]]) -> str:
    """ "x, in iteration 2 of loop,", before a verb; the name alone outside of loops."""
    there = where(within)
    return f"{name}{there}," if there else name


def sentence(*clauses: str) -> str:
    """Clauses put together, with a full stop."""
    return f"{'; '.join(filter(None, clauses)).rstrip('.')}."


def capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


def list_words(names: Iterable[str]) -> str:
    """ "a, b and c"."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
