"""Calls of a kernel in parts that do not depend on each other, which several threads may take.

How many parts there are, and what is in each, has to hang on shapes alone: then no bit of a result
hangs on how many threads there are.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class Parts:
    """What a kernel lists in place of a call. listed: the calls of some of the parts, one part
    after the other; `room(shape, dtype)` gives them memory that is theirs until all parts are
    done, and that those which another thread takes do not have."""

    parts: Sequence[Any]
    listed: Callable[[Sequence[Any], Any], Iterator[tuple[Any, ...]]]


def in_parts(
    parts: Sequence[Part],
    listed: Callable[[Sequence[Part], Any], Iterator[tuple[Any, ...]]],
    room: Any,
    shared: bool = True,
) -> Iterator[Any]:
    """The calls of all parts: of several as what may be shared, if that is worth it."""
    if shared and len(parts) > 1:
        yield Parts(parts, listed)
    else:
        yield from listed(parts, room)


def make_calls(calls: Generator[Any, None, Any] | Iterator[Any], room: Any) -> Any:
    """Make them, one after the other, those of parts as well; what `calls` returns in the end."""
    while True:
        try:
            one = next(calls)
        except StopIteration as end:
            return end.value
        if isinstance(one, Parts):
            make_calls(one.listed(one.parts, room), room)
        else:
            function, *arguments = one
            function(*arguments)
