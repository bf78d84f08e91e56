"""Mappings with other keys in the places of some."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.graph import other_keys
from gradstep.core.graph.other_keys import with_other_keys

NAMES = [f"op{number}" for number in range(12)]


@given(st.permutations(NAMES), st.permutations(NAMES), st.data(), st.sampled_from([0, 16]))
def test_each_value_stays_in_its_place_under_its_new_key(
    keys: list[str], others: list[str], data: st.DataObject, few: int
) -> None:
    """Also where one gets the key that another had."""
    chosen = data.draw(st.sets(st.sampled_from(NAMES)))
    there = [*keys[:6], *filter(chosen.__contains__, keys[6:])]
    names = {old: others[place] for place, old in enumerate(there) if data.draw(st.booleans())}
    now = [names.get(key, key) for key in there]
    if len({*now}) < len(now):
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(other_keys, "_FEW", few)
        places = {key: place for place, key in enumerate(there)}
        known = data.draw(st.sampled_from([places, None]))
        found = with_other_keys({key: f"of {key}" for key in there}, names, known)
    assert [*found.items()] == [(n, f"of {old}") for n, old in zip(now, there, strict=True)]
