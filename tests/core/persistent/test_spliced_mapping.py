"""Entries that are put in and taken out of a dictionary at their places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.persistent import spliced_mapping
from gradstep.core.persistent.spliced_mapping import spliced


@given(st.integers(0, 60), st.data(), st.sampled_from([1, 6, 1000]))
def test_it_is_as_if_put_in_and_taken_out_of_a_list(
    length: int, data: st.DataObject, merged: int
) -> None:
    entries = {f"old{number}": number for number in range(length)}
    before = dict(entries)
    gone = data.draw(st.sets(st.sampled_from([*entries]))) if entries else set[str]()
    places = sorted(data.draw(st.lists(st.integers(0, length), max_size=6)))
    come = [(place, f"new{number}", -number) for number, place in enumerate(places)]
    rows = [*entries.items()]
    for place, key, value in reversed(come):
        rows.insert(place, (key, value))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spliced_mapping, "_MERGED", merged)
        found = spliced(entries, gone, come)
    assert [*found.items()] == [row for row in rows if row[0] not in gone]
    assert entries == before
