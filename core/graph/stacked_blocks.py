"""Equal blocks in a row, as h/0 to h/11: which closed scopes one box shows together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from gradstep.core.graph.block_kinds import BlockKinds
from gradstep.core.graph.scopes import parents
from gradstep.core.memory_release import memo_of_document

LEAST = 3  # blocks; two are as well seen side by side
_NUMBERED = re.compile(r"(.*?)([0-9]{1,9})", re.DOTALL)


def each_by_itself(closed: Iterable[str]) -> dict[str, str]:
    """Closed scopes, each shown by a box of its own."""
    return {scope: scope for scope in closed}


def stack_blocks(closed: frozenset[str], kinds: BlockKinds) -> dict[str, str]:
    """Each closed scope -> the one that its box is called after: itself, or the first of a stack,
    the blocks of which follow each other in their order."""
    found = each_by_itself(closed)
    for stack in _stacks(_seen_series(closed), kinds):
        for scope in stack:
            del found[scope]
            found[scope] = stack[0]
    return found


def stacks_in(shown_by: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Of what stack_blocks found: the first of each stack -> its blocks."""
    found: dict[str, list[str]] = {}
    for scope, first in shown_by.items():
        found.setdefault(first, []).append(scope)
    return {first: tuple(blocks) for first, blocks in found.items() if len(blocks) > 1}


def equal_siblings(scope: str, kinds: BlockKinds) -> tuple[str, ...]:
    """The blocks in a row, `scope` among them, that are equal to it, whether they are closed or
    not. Nothing where they would be no stack."""
    series = next((one for one in _series(_siblings(scope, kinds)) if scope in one), ())
    stacks = _stacks([series] if series else [], kinds)
    return next((tuple(stack) for stack in stacks if scope in stack), ())


def _siblings(scope: str, kinds: BlockKinds) -> set[str]:
    """The scopes beside one that are called as it is, but for the number."""
    start, number = _split(scope)
    if number < 0:
        return set()
    names = (name for name in kinds.graph.operations if name.startswith(start))
    ends = {name[len(start) :].partition("/")[::2] for name in names}
    return {start + number for number, inside in ends if inside}


@memo_of_document(2)  # edits come and go, and what is closed stays
def _seen_series(closed: frozenset[str]) -> Sequence[Sequence[str]]:
    """Those of scopes that are in no other closed one."""
    return [*_series(scope for scope in closed if closed.isdisjoint(parents(scope)))]


def _series(scopes: Iterable[str]) -> Iterator[list[str]]:
    """Scopes whose names are the same but for numbers that follow each other."""
    numbered = sorted((*_split(scope), scope) for scope in scopes if _split(scope)[1] >= 0)
    row = enumerate(numbered)
    for _, group in groupby(row, key=lambda entry: (entry[1][0], entry[1][1] - entry[0])):
        found = [scope for _, (_, _, scope) in group]
        if len(found) >= LEAST:
            yield found


def _split(scope: str) -> tuple[str, int]:
    """What a name says before its number, with the scope around, and the number; -1 for none."""
    around, slash, last = scope.rpartition("/")
    parts = _NUMBERED.fullmatch(last)
    return (scope, -1) if parts is None else (around + slash + parts[1], int(parts[2]))


def _stacks(series: Sequence[Sequence[str]], kinds: BlockKinds) -> Iterator[list[str]]:
    """The longest stretches of equal blocks in them."""
    scopes = [scope for one in series for scope in one]
    known = dict(zip(scopes, kinds.of(scopes), strict=True))
    for one in series:
        for kind, group in groupby(one, key=known.__getitem__):
            stack = [*group]
            if kind is not None and len(stack) >= LEAST:
                yield stack
