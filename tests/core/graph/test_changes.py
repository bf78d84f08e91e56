"""Comparing what there was with what there is, from both ends."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.graph.changes import keep_sequence
from gradstep.core.persistent.sequence_places import common_ends, common_start

_NAMES = st.lists(st.sampled_from("abcdefgh"), unique=True)


@given(_NAMES, _NAMES)
def test_a_sequence_is_kept_where_what_both_have_comes_alike(a: list[str], b: list[str]) -> None:
    both = {*a} & {*b}
    kept = [name for name in a if name in both] == [name for name in b if name in both]
    assert keep_sequence(dict.fromkeys(a), dict.fromkeys(b)) == kept


@given(st.lists(st.integers(0, 2)), st.lists(st.integers(0, 2)))
def test_lists_begin_alike(a: list[int], b: list[int]) -> None:
    length = common_start(a, b)
    assert a[:length] == b[:length]
    assert a[length : length + 1] != b[length : length + 1] or length == min(len(a), len(b))


@given(st.lists(st.integers(0, 2)), st.lists(st.integers(0, 2)))
def test_ends_are_as_long_as_they_can_be_and_apart(a: list[int], b: list[int]) -> None:
    first, last = common_ends(a, b)
    shorter = min(len(a), len(b))
    assert first == common_start(a, b)
    assert first + last <= shorter
    assert a[len(a) - last :] == b[len(b) - last :]
    if first + last < shorter:
        assert a[-1 - last] != b[-1 - last]
