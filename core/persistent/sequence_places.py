"""Places in which two sequences differ; of messages as of graphs, and loads neither."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import TypeVar

from gradstep.core.persistent.joined_sequence import Joined, joined

T = TypeVar("T")
_FEW = 64  # places, which whoever asks looks at one by one
_STRIDE = 16  # entries that are compared at once, at first
_LONGEST = 1024  # and at most: so many are looked through again where one differs


def changed_places(a: Sequence[object], b: Sequence[object]) -> list[int] | None:
    """The few places at which two sequences of one length have other entries, wherever they are;
    None where they are of different lengths, or differ in many places. The very same entries are
    skipped over in C, without a look at them."""
    if len(a) != len(b):
        return None
    if isinstance(a, Joined) or isinstance(b, Joined):
        return joined(a).changed_places(joined(b), _FEW)
    a, b = _of_one_kind(a, b)
    if a == b:
        return []
    found: list[int] = []
    place = _alike(a, 0, b, 0)
    while place < len(a):
        found.append(place)
        if len(found) > _FEW:
            return None
        place += 1
        place += _alike(a, place, b, place)
    return found


def common_start(a: Sequence[object], b: Sequence[object]) -> int:
    """How many entries the two begin with that are the same; as `changed_places`."""
    if isinstance(a, Joined) or isinstance(b, Joined):
        return joined(a).common_start(joined(b))
    a, b = _of_one_kind(a, b)
    return len(a) if a == b else _alike(a, 0, b, 0)


def common_ends(a: Sequence[object], b: Sequence[object]) -> tuple[int, int]:
    """How many entries the two begin with, and after these end with, that are the same; as
    `changed_places`."""
    if isinstance(a, Joined) or isinstance(b, Joined):
        return joined(a).common_ends(joined(b))
    a, b = _of_one_kind(a, b)
    first = common_start(a, b)
    return first, _alike_before(a, b, min(len(a), len(b)) - first)


def _of_one_kind(a: Sequence[T], b: Sequence[T]) -> tuple[Sequence[T], Sequence[T]]:
    """As they are, if they are compared with each other as they are."""
    return (a, b) if type(a) is type(b) and isinstance(a, list | tuple) else ([*a], [*b])


def inserted_places(
    a: Sequence[str], b: Sequence[str], gone: Container[str], new: Container[str]
) -> dict[str, int] | None:
    """Where in `b` what is `new` stands; as `exchanged_places`."""
    found = exchanged_places(a, b, gone, new)
    return None if found is None else {b[place]: place for _, place in found[1]}


def exchanged_places(
    a: Sequence[T], b: Sequence[T], gone: Container[T], new: Container[T]
) -> tuple[list[int], list[tuple[int, int]]] | None:
    """If `b` is `a` without what is `gone` and with what is `new`: where the one stands in `a`; and
    for each of the other the place in `a` that it comes before, and its own in `b`. Else None, or
    where more than a few entries come or go. Equal entries are skipped over in C."""
    return _exchanged(*_of_one_kind(a, b), gone.__contains__, new.__contains__)


def exchanged_keys(
    a: Mapping[T, object], b: Mapping[T, object]
) -> tuple[list[int], list[tuple[int, int]]] | None:
    """The same of the keys of two mappings: of what only the one, or only the other, has."""
    return _exchanged([*a], [*b], lambda key: key not in b, lambda key: key not in a)


def _exchanged(
    a: Sequence[T], b: Sequence[T], is_gone: Callable[[T], bool], is_new: Callable[[T], bool]
) -> tuple[list[int], list[tuple[int, int]]] | None:
    if a == b:
        return [], []
    went: list[int] = []
    came: list[tuple[int, int]] = []
    i, j, steps = 0, 0, 0
    while True:
        run = _alike(a, i, b, j)
        i, j, steps = i + run, j + run, steps + 1
        if steps > _FEW:
            return None
        if i < len(a) and is_gone(a[i]):
            went.append(i)
            i += 1
        elif j < len(b) and is_new(b[j]):
            came.append((i, j))
            j += 1
        else:
            return (went, came) if i == len(a) and j == len(b) else None


def exchange(rows: Sequence[T], gone: Sequence[int], come: Iterable[tuple[int, T]]) -> list[T]:
    """`rows` without what is at the places that are gone, and with what has come, each at its place
    in the list that there is then; both ascending."""
    found, done = list[T](), 0
    left = iter((*gone, len(rows)))
    until = next(left)  # the next place that is gone
    for place, row in come:
        while done + place - len(found) > until:
            found += rows[done:until]
            done, until = until + 1, next(left)
        stop = done + place - len(found)
        found += rows[done:stop]
        done = stop
        found.append(row)
    while done < len(rows):
        found += rows[done:until]
        done, until = until + 1, next(left, until)
    return found


def _alike(a: Sequence[object], i: int, b: Sequence[object], j: int) -> int:
    """How many entries are equal from `i` and `j` on."""
    start, stride, most = i, _STRIDE, min(len(a) - i, len(b) - j) + i
    while i < most:
        stop = min(i + stride, most)
        if a[i:stop] == b[i + j - start : stop + j - start]:
            i, stride = stop, min(2 * stride, _LONGEST)
        else:
            return i - start + _equal(a[i:stop], b[i + j - start : stop + j - start])
    return i - start


def _alike_before(a: Sequence[object], b: Sequence[object], most: int) -> int:
    """How many entries are equal before the ends; `most` at most."""
    done, stride, m, n = 0, _STRIDE, len(a), len(b)
    while done < most:
        stop = min(done + stride, most)
        one, other = a[m - stop : m - done], b[n - stop : n - done]
        if one != other:
            return done + _equal(one[::-1], other[::-1])
        done, stride = stop, min(2 * stride, _LONGEST)
    return done


def _equal(a: Sequence[object], b: Sequence[object]) -> int:
    """How many entries two that differ begin with that are equal."""
    low, high = 0, len(a)  # as many are equal; not all of as many are
    while high - low > 1:
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low
