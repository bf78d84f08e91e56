"""Places that are told by those before an edit are those that counting would give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.persistent.shifted_places import ShiftedPlaces, shift_places

NAMES = [f"op{i}" for i in range(12)]


@given(st.data())
def test_after_any_edits_each_name_has_its_place(data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from(NAMES), unique=True))
    places: Mapping[str, int] = dict(zip(names, count(), strict=False))
    for _ in range(data.draw(st.integers(1, 7))):
        left = data.draw(st.sets(st.sampled_from(names))) if names else set()
        now = [name for name in names if name not in left]
        entered = set()
        for name in data.draw(st.sets(st.sampled_from(NAMES))) - {*names}:
            now.insert(data.draw(st.integers(0, len(now))), name)
            entered.add(name)
        entries = {name: place for place, name in enumerate(now) if name in entered}
        found = shift_places(now, places, left, entries)
        assert dict(found) == {name: i for i, name in enumerate(now)}
        assert [*found] == now
        assert {n for n in NAMES if n in found} == {*now}
        assert [found.get(n, -1) for n in NAMES] == [
            now.index(n) if n in now else -1 for n in NAMES
        ]
        with pytest.raises(KeyError):
            found["another"]
        names, places = now, found


class _Counted(list[str]):
    """Names that are looked through so many times."""

    times = 0

    def __iter__(self) -> Iterator[str]:
        self.times += 1
        return super().__iter__()


def test_who_asks_for_a_few_has_not_all_numbered() -> None:
    names = _Counted(NAMES)
    places: Any = {name: i for i, name in enumerate(NAMES)}
    for _ in range(4):
        places = shift_places(names, places, (), {})
    assert (places["op7"], places.depth, names.times) == (7, 4, 0)
    assert not isinstance(
        shift_places(names, places, (), {}), ShiftedPlaces
    )  # once in a while they are
