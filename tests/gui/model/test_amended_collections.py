"""What edits make of a set or a mapping is what a copy would be, and shares what they leave."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.gui.model.amended_collections import FEW, AmendedDict, AmendedSet

NUMBERS = st.integers(0, 19)
SETS = st.frozensets(NUMBERS)
DICTS = st.dictionaries(NUMBERS, st.integers(0, 3))


@given(start=SETS, flips=st.lists(SETS, max_size=6))
def test_a_set_that_was_amended_is_the_set_that_came_of_it(
    start: frozenset[int], flips: list[frozenset[int]]
) -> None:
    plain, amended, earlier = start, AmendedSet(start), [(start, AmendedSet(start))]
    for flip in flips:
        plain, amended = plain ^ flip, amended.flip(flip)
        earlier.append((plain, amended))
        assert amended == AmendedSet(plain) == plain
        assert (sorted(amended), len(amended)) == (sorted(plain), len(plain))
        for number in range(20):
            assert (number in amended) == amended.has(number) == (number in plain)
    for one, was in earlier:
        assert was == one, "what there was stays as it was"
        assert (was == amended) == (one == plain)
        assert was.differing(amended) == one ^ plain


@given(start=DICTS, edits=st.lists(st.tuples(SETS, DICTS), max_size=6))
def test_a_mapping_that_was_amended_is_the_mapping_that_came_of_it(
    start: dict[int, int], edits: list[tuple[frozenset[int], dict[int, int]]]
) -> None:
    plain, amended = start, AmendedDict(start)
    earlier = [(start, amended)]
    for gone, come in edits:
        plain = {key: value for key, value in plain.items() if key not in gone} | come
        amended = amended.amended(gone, come)
        earlier.append((plain, amended))
        assert amended == plain
        assert (sorted(amended), len(amended)) == (sorted(plain), len(plain))
        for number in range(20):
            assert (number in amended) == (number in plain)
            assert amended.get(number, -1) == plain.get(number, -1)
            assert amended.getter(number) == plain.get(number)
        some = [*range(0, 20, 3)]
        assert amended.among(some) == [number for number in some if number in plain]
    for one, was in earlier:
        assert was == one, "what there was stays as it was"
        assert was.differing(amended) >= one.keys() ^ plain.keys()
    with pytest.raises(KeyError):
        amended[20]


def test_of_a_small_edit_nothing_is_copied() -> None:
    start = dict.fromkeys(range(100 * FEW), 0)
    edited = AmendedDict(start).amended([0], {1: 1})
    assert (edited.below, edited.own.keys()) == (start, {0, 1})
    assert edited.below is start
    whole = AmendedSet(start)
    assert whole.flip([3])._base is whole._base
    assert len(whole.flip(range(50 * FEW))._flipped) == 0, "of a large one all is put together"
