"""Where two sequences differ."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.persistent import sequence_places
from gradstep.core.persistent.sequence_places import (
    changed_places,
    common_ends,
    common_start,
    exchange,
    exchanged_keys,
    inserted_places,
)

_NAMES = st.lists(st.integers(0, 40).map(str), unique=True, max_size=30)


@given(_NAMES, _NAMES, st.sampled_from([1, 4, 4096]))
def test_where_what_is_new_was_put(a: list[str], b: list[str], stride: int) -> None:
    gone, new = {*a} - {*b}, {*b} - {*a}
    keeps = [x for x in a if x in b] == [x for x in b if x in a]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sequence_places, "_STRIDE", stride)
        found = inserted_places(a, b, gone, new)
    assert found == ({x: b.index(x) for x in new} if keeps else None)


def test_many_are_not_looked_for_one_by_one() -> None:
    names = [str(number) for number in range(300)]
    few, many = names[:60:3], names[:300:3]
    assert inserted_places([], names[:60], (), {*names[:60]}) is not None
    assert inserted_places(few, names[:60], (), {*names[:60]} - {*few}) is not None
    assert inserted_places(many, names, (), {*names} - {*many}) is None


@given(st.lists(st.integers(0, 400), max_size=5), st.integers(0, 400), st.integers(0, 60))
def test_where_long_lists_differ(places: list[int], length: int, less: int) -> None:
    a = [str(number) for number in range(length)]
    b = [f"{text}?" if int(text) in places else text for text in a]
    found = sorted({place for place in places if place < length})
    assert changed_places(a, b) == found
    assert changed_places(tuple(a), b) == found
    assert common_start(a, b) == (found[0] if found else length)
    last = length - 1 - found[-1] if found else 0
    assert common_ends(a, b) == (common_start(a, b), last)
    shorter = b[: length // 2] + b[length // 2 + less :]
    gone = length - len(shorter)
    first, last = common_ends(a, shorter)
    assert a[:first] == shorter[:first]
    assert a[len(a) - last :] == shorter[len(shorter) - last :]
    assert first + last == len(shorter) or a[first] != shorter[first]
    assert changed_places(a, shorter) == (None if gone else found)


def test_many_changed_places_are_not_listed() -> None:
    names = [str(number) for number in range(300)]
    assert changed_places(names, names[::-1]) is None


@given(_NAMES, _NAMES)
def test_keys_that_only_one_mapping_has_lead_from_it_to_the_other(
    a: list[str], b: list[str]
) -> None:
    found = exchanged_keys(dict.fromkeys(a), dict.fromkeys(b))
    in_line = [x for x in a if x in b] == [x for x in b if x in a]
    assert (found is not None) is in_line
    if found is None:
        return
    gone, come = found
    assert [a[place] for place in gone] == [x for x in a if x not in b]
    rows = [*a]
    for before, place in reversed(come):
        rows.insert(before, b[place])
    assert [x for x in rows if x in b] == b


@given(_NAMES, _NAMES, st.sampled_from([1, 3, 1024]))
def test_exchanging_leads_from_one_list_to_the_other(a: list[str], b: list[str], at: int) -> None:
    b = [*filter({*b}.__contains__, a), *(x for x in b if x not in a)][::-1]
    a = a[::-1]
    found = exchanged_keys(dict.fromkeys(a), dict.fromkeys(b))
    assert found is not None
    gone, come = found
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sequence_places, "_LONGEST", at)
        assert exchange(a, gone, [(place, b[place]) for _, place in come]) == b
