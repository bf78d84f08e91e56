"""A mapping with its order beside it does as a dictionary that was filled in that order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.persistent.arranged_mapping import ArrangedMapping, overlaid_unordered
from gradstep.core.persistent.spliced_mapping import copied

KEYS = st.lists(st.text(max_size=2), unique=True, max_size=12)


@given(KEYS, st.data())
def test_it_is_as_a_dictionary_in_that_order(keys: list[str], data: st.DataObject) -> None:
    entries = {key: n for n, key in enumerate(keys)}
    order = data.draw(st.permutations(keys))
    ours, wanted = ArrangedMapping(entries, tuple(order)), {key: entries[key] for key in order}
    assert [*ours] == [*ours.keys()] == [*wanted]
    assert [*reversed(ours)] == [*reversed(wanted)]
    assert [*ours.values()] == [*wanted.values()]
    assert [*ours.items()] == [*wanted.items()] == [*{**ours}.items()]
    assert [*copied(ours).items()] == [*wanted.items()]
    assert len(ours) == len(wanted)
    assert ours == wanted
    others = {*keys[::2], "not there"}
    assert ours.keys() - others == wanted.keys() - others
    for key in others:
        assert (key in ours) == ours.__contains__(key) == (key in wanted)
        assert ours.get(key) == wanted.get(key)
        assert ours.get(key, -1) == wanted.get(key, -1)
    assert [ours[key] for key in keys] == [*map(ours.__getitem__, keys)] == [*range(len(keys))]
    with pytest.raises(KeyError):
        ours["not there"]


@pytest.mark.parametrize("count", [2, 2000])
def test_entries_that_are_laid_over_it_leave_it_as_it_was(count: int) -> None:
    keys = [str(n) for n in range(count)]
    ours = ArrangedMapping(dict(zip(keys, range(count), strict=True)), keys[::-1])
    found = overlaid_unordered(ours)
    found["new"], found["0"] = -1, -2
    del found["1"]
    assert ours["0"] == 0
    assert ours["1"] == 1
    assert "new" not in ours
    order = ["new", *keys[2:], "0"]
    other = ArrangedMapping(found, order)
    assert [*other.items()] == [("new", -1), *((k, int(k)) for k in keys[2:]), ("0", -2)]
    assert [*other.values()] == [value for _, value in other.items()]
