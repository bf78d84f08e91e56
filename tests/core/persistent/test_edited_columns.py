"""A column after edits is what it would be anew, and says of the one before what is other."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.persistent.edited_columns import (
    Column,
    Exchange,
    Table,
    difference,
    joined_once,
    other_keys,
    places_of,
)
from gradstep.core.persistent.sequence_places import exchange

_ROWS = st.integers(0, 9)  # so few that one is there several times


def _require_exchanged(then: Column[Any], now: Column[Any]) -> None:
    known = difference(then, now)
    assert known is not None
    _require(known, then, now)
    _require(known.undone, now, then)


def _require(known: Exchange, then: Column[Any], now: Column[Any]) -> None:
    come = [(place, now[place]) for _, place in known.come]
    assert exchange(then, known.gone, come) == [*now]
    for (at, place), number in zip(known.come, range(len(now)), strict=False):
        assert place == at - sum(gone < at for gone in known.gone) + number


def _draw_edit(data: st.DataObject, column: Column[int]) -> Column[int]:
    places = st.integers(0, max(0, len(column) - 1))
    gone = data.draw(st.sets(places)) if column else set()
    come = data.draw(st.lists(st.tuples(st.integers(0, len(column)), _ROWS), max_size=4))
    come = sorted(come, key=lambda row: row[0])
    found = column.edited(gone, come)
    anew = []
    for place in range(len(column) + 1):
        anew += [row for at, row in come if at == place]
        anew += [] if place in gone else column[place : place + 1]
    assert [*found] == anew
    return found


@given(st.lists(_ROWS, max_size=8), st.data())
def test_a_column_knows_what_edits_made_other(rows: list[int], data: st.DataObject) -> None:
    column = Column(rows)
    for _ in range(data.draw(st.integers(1, 7))):
        if data.draw(st.booleans()):
            column.number()
        now = _draw_edit(data, column)
        _require_exchanged(column, now)
        assert difference(now, column) is None or now == column
        assert difference([*column], now) is None or now == column
        wanted = data.draw(st.sets(_ROWS))
        assert places_of(wanted, now) == [i for i, row in enumerate(now) if row in wanted]
        assert now.is_distinct == (len({*now}) == len(now))
        if now.is_distinct:
            assert {**now.places} == {row: place for place, row in enumerate(now)}
        column = now


@given(st.lists(st.lists(_ROWS, max_size=6), max_size=3), st.data())
def test_parts_that_are_joined_again_are_as_joined_anew(
    rows: list[list[int]], data: st.DataObject
) -> None:
    parts: list[Any] = [*map(Column, rows)]
    before = joined_once(parts, ())
    for _ in range(data.draw(st.integers(1, 3))):
        parts = [
            data.draw(st.lists(_ROWS, max_size=2))
            if isinstance(part, list) or not data.draw(st.integers(0, 9))
            else _draw_edit(data, part)
            for part in parts
        ]
        now = joined_once(parts, before)
        assert (
            now
            == joined_once(parts, ())
            == Column(dict.fromkeys(x for part in parts for x in part))
        )
        if difference(before, now) is not None:
            _require_exchanged(before, now)
        before = now


def test_of_parts_that_stay_it_stays_itself_and_of_others_it_says_what_is_other() -> None:
    first, column = (1, 2), Column([3, 4])
    before = joined_once((first, column), ())
    assert joined_once(((1, 2), column), before) is before
    now = joined_once((first, column.edited([1], [(1, 5)])), before)
    assert difference(before, now) == Exchange([3], [(3, 3)])


@given(st.dictionaries(_ROWS, _ROWS), st.data())
def test_a_table_is_in_order_and_knows_what_is_other(
    entries: dict[int, int], data: st.DataObject
) -> None:
    table = Table.of(dict(entries))
    for _ in range(data.draw(st.integers(1, 3))):
        keys = [*table]
        gone = {key for key in keys if data.draw(st.booleans())}
        others = {k: data.draw(_ROWS) for k in keys if k not in gone and data.draw(st.booleans())}
        new = data.draw(st.lists(st.integers(0, 12), unique=True, max_size=3))
        new = [key for key in new if key not in table or key in gone]
        ats = sorted(data.draw(st.integers(0, len(keys))) for _ in new)
        come = [(at, key, data.draw(_ROWS)) for at, key in zip(ats, new, strict=True)]
        now = table.edited(gone, come, others)
        anew: dict[int, int] = {}
        for place in range(len(keys) + 1):
            anew.update((key, value) for at, key, value in come if at == place)
            stay = (key for key in keys[place : place + 1] if key not in gone)
            anew.update((key, others.get(key, table[key])) for key in stay)
        assert [*now.items()] == [*anew.items()] == [*zip(now.order, now.held, strict=True)]
        assert [*now.values()] == [*anew.values()]
        assert {key: now.get(key) for key in anew} == anew
        _require_exchanged(table.order, now.order)
        _require_exchanged(table.held, now.held)
        other = {k for k in {**table, **now} if table.get(k) != now.get(k)}
        assert other <= (other_keys(table, now) or set())
        assert other_keys(table, anew) is None
        table = now
