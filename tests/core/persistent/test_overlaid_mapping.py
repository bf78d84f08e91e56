"""A mapping that lies over another one does as a dictionary does, and leaves that as it was."""

from __future__ import annotations

from collections.abc import MutableMapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.persistent.overlaid_mapping import OverlaidMapping, has_any, look_up, overlaid
from gradstep.core.persistent.spliced_mapping import copied

BASE = {n: str(n) for n in range(2_000)}
MOVES = st.tuples(st.sampled_from(["put", "pop", "delete", "again"]), st.integers(1_990, 2_010))


def _do(mapping: MutableMapping[int, str], move: str, key: int) -> object:
    if move == "put":
        mapping[key] = "new"
    elif move == "pop":
        return mapping.pop(key, None)
    elif move == "delete":
        try:
            del mapping[key]
        except KeyError:
            return "missing"
    return None


@given(st.lists(MOVES, max_size=40))
def test_it_is_as_a_dictionary_that_is_changed_so(moves: list[tuple[str, int]]) -> None:
    base = dict(BASE)
    ours, wanted = overlaid(base), dict(base)
    for move, key in moves:
        if move == "again":
            below, ours = ours, overlaid(ours)
            assert dict(below.items()) == wanted
        assert _do(ours, move, key) == _do(wanted, move, key)
        assert ours.get(key) == wanted.get(key)
        assert (key in ours) == (key in wanted)
    assert isinstance(ours, OverlaidMapping)
    assert base == BASE
    assert len(ours) == len(wanted)
    assert {*ours} == {*wanted}
    assert {key: ours[key] for key in ours} == wanted
    assert copied(ours) == dict(ours.items()) == wanted
    assert sorted(ours.values()) == sorted(wanted.values())


def test_what_lies_over_it_is_not_seen_below() -> None:
    first = overlaid(dict(BASE))
    first[1] = "one"
    second = overlaid(first)
    second[1], second[2] = "another", "two"
    del second[3]
    assert (first[1], first[2], first[3]) == ("one", "2", "3")
    assert (second[1], second[2], second.get(3)) == ("another", "two", None)
    with pytest.raises(KeyError):
        second[3]
    with pytest.raises(KeyError):
        second.pop(3)
    with pytest.raises(KeyError):
        del second[3]


def test_one_with_much_of_its_own_is_put_down_once_and_a_small_one_is_copied() -> None:
    base = dict(BASE)
    much = overlaid(base)
    assert isinstance(much, OverlaidMapping)
    much.update(dict.fromkeys(range(500), "new"))
    del much[600]
    wanted = much.copy()
    first, second = overlaid(much), overlaid(much)
    assert isinstance(first, OverlaidMapping)
    assert isinstance(second, OverlaidMapping)
    assert first.below is second.below is much.below
    assert first.own == second.own == much.own == {}
    first[1] = "other"
    assert second.copy() == much.copy() == wanted
    assert base == BASE
    assert type(overlaid({1: 2})) is dict


@given(st.lists(MOVES, max_size=10), st.sets(st.integers(1_990, 2_010)))
def test_what_it_has_of_some_keys(moves: list[tuple[str, int]], keys: set[int]) -> None:
    ours = overlaid(dict(BASE))
    for move, key in moves:
        _do(ours, move, key)
    wanted = not keys.isdisjoint(ours)
    assert has_any(ours, keys) == has_any(dict(ours.items()), iter(keys)) == wanted
    asked = [*keys]
    found = look_up(ours, asked)
    assert found == look_up(dict(ours.items()), asked) == [ours.get(key) for key in asked]


@given(st.lists(MOVES, max_size=20))
def test_whoever_read_what_lies_over_before_it_was_put_down_finds_the_same(
    moves: list[tuple[str, int]],
) -> None:
    """As another thread may, in the midst of a look."""
    ours, wanted = overlaid(dict(BASE)), dict(BASE)
    for move, key in moves:
        _do(ours, move, key)
        _do(wanted, move, key)
    assert isinstance(ours, OverlaidMapping)
    own = ours.own
    ours.put_down()
    late = OverlaidMapping(ours.below, own)
    for found in (ours, late):
        assert found.copy() == wanted
        assert len(found) == len(wanted)
        assert all(found.get(key) == wanted.get(key) for key in range(1_980, 2_020))
