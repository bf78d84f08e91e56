"""Sequences that are joined do as one tuple of all their entries, also after edits."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.persistent import joined_sequence
from gradstep.core.persistent.edited_sequence import Growing, exchanged, followed, replaced
from gradstep.core.persistent.joined_sequence import Joined, joined
from gradstep.core.persistent.sequence_places import (
    changed_places,
    common_ends,
    common_start,
    exchange,
)

ROWS = st.lists(st.integers(0, 3), max_size=12)
PARTS = st.lists(ROWS, max_size=4)


@pytest.fixture(autouse=True, scope="module", params=[1, 3])
def of_short_parts(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joined_sequence, "_PART", request.param)
        patch.setattr(joined_sequence, "SHORT", 4)
        yield


@given(PARTS, PARTS, st.integers(-50, 50), st.slices(50))
def test_it_is_as_a_tuple_of_all(
    parts: list[list[int]], others: list[list[int]], place: int, places: slice
) -> None:
    ours, wanted = joined(*parts), tuple(x for part in parts for x in part)
    assert len(ours) == len(wanted)
    assert [*ours] == [*wanted]
    assert [*reversed(ours)] == [*reversed(wanted)]
    assert [*ours[places]] == [*wanted[places]]
    if -len(wanted) <= place < len(wanted):
        assert ours[place] == wanted[place]
    else:
        with pytest.raises(IndexError):
            ours[place]
    assert (2 in ours) == (2 in wanted)
    assert [ours.index(x) for x in wanted] == [wanted.index(x) for x in wanted]
    assert [ours.count(x) for x in range(5)] == [wanted.count(x) for x in range(5)]
    with pytest.raises(ValueError, match="not there"):
        ours.index(5)
    for start, x in enumerate(wanted):
        assert ours.index(x, start) == start
    other = tuple(x for part in others for x in part)
    for same in (other, [*other], joined(*others), joined(joined(*others[:2]), *others[2:])):
        assert (ours == same) == (same == ours) == (wanted == other)
    assert ours == wanted
    assert ours != "text"


def test_a_part_is_not_copied_where_all_of_it_is_asked_for() -> None:
    base, made = (1, 2), (3, 4, 5)
    both = joined(base, (), made)
    assert both[2:] is made
    assert both[:2] is base
    assert [*map(id, joined(both, (6,)).parts[:2])] == [id(base), id(made)]


@given(PARTS, st.data())
def test_edits_one_after_the_other_do_as_those_of_a_list(
    parts: list[list[int]], data: st.DataObject
) -> None:
    ours, wanted = joined(*parts), [x for part in parts for x in part]
    for _ in range(data.draw(st.integers(1, 4))):
        before, then = ours, [*wanted]
        places = st.sets(st.integers(0, len(wanted) - 1)) if wanted else st.just(set[int]())
        match data.draw(st.sampled_from(["exchange", "replace", "follow"])):
            case "exchange":
                gone = sorted(data.draw(places))
                end = len(wanted) - len(gone)
                rows = data.draw(ROWS)
                at = sorted(data.draw(st.lists(st.integers(0, end), max_size=3)))
                come = [(x + i, row) for i, (x, row) in enumerate(zip(at, rows, strict=False))]
                ours, wanted = exchanged(ours, gone, come), exchange(wanted, gone, come)
                left = [x for i, x in enumerate(then) if i not in gone]
                for place, row in come:
                    left.insert(place, row)
                assert left == wanted
            case "replace":
                others = {x: data.draw(st.integers(0, 3)) for x in data.draw(places)}
                ours = replaced(ours, others)
                for x, row in others.items():
                    wanted[x] = row
            case _:
                rows = data.draw(ROWS)
                ours, wanted = followed(ours, rows), [*wanted, *rows]
        assert [*ours] == wanted
        assert [*before] == then, "what there was is another"
        assert isinstance(before, Joined)
        ours = joined(ours)
        assert [ours[i] for i in range(len(wanted))] == wanted
        assert all(ours.parts)
        assert common_start(before, ours) == common_start(then, wanted)
        assert common_ends(before, ours) == common_ends(then, wanted)
        assert changed_places(before, ours) == changed_places(then, wanted)


@pytest.mark.parametrize("length", [2, 5])
def test_short_ones_are_copied(length: int) -> None:
    rows = tuple(range(length))
    assert isinstance(exchanged(rows, [0], []), Joined) == (length > 4)
    assert isinstance(replaced(rows, {0: 1}), Joined) == (length > 4)
    assert isinstance(followed(rows, (1,)), Joined) == (length > 4)


@given(ROWS, ROWS)
def test_one_that_grows_is_as_a_list(rows: list[int], more: list[int]) -> None:
    ours, wanted = Growing(tuple(rows)), [*rows]
    for row in more:
        ours.append(row)
        wanted.append(row)
    assert len(ours) == len(wanted)
    assert [*ours] == [*ours.found] == wanted
    assert [ours[place] for place in range(-len(wanted), len(wanted))] == wanted * 2
    assert [*ours[1:-1]] == wanted[1:-1]
    with pytest.raises(IndexError):
        ours[len(wanted)]
