"""A mapping with its order beside it does as a dictionary that was filled in that order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.arranged_mapping import ArrangedMapping, copied_unordered
from gradstep.core.spliced_mapping import copied

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


def test_a_copy_in_no_order_is_the_copier_s_own() -> None:
    ours = ArrangedMapping({"a": 1, "b": 2}, ("b", "a"))
    found = copied_unordered(ours)
    found["c"] = 3
    assert found.keys() - {"c"} == ours.keys()
    assert copied_unordered({"a": 1}) == {"a": 1}
