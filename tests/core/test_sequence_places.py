"""Where two sequences differ."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core import sequence_places
from gradstep.core.sequence_places import inserted_places

_NAMES = st.lists(st.integers(0, 40).map(str), unique=True, max_size=30)


@given(_NAMES, _NAMES, st.sampled_from([1, 4, 4096]))
def test_where_what_is_new_was_put(a: list[str], b: list[str], stride: int) -> None:
    gone, new = {*a} - {*b}, {*b} - {*a}
    keeps = [x for x in a if x in b] == [x for x in b if x in a]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sequence_places, "_STRIDE", stride)
        found = inserted_places(a, b, gone, new)
    assert found == ({x: b.index(x) for x in new} if keeps else None)


def test_many_are_not_looked_for_one_by_one() -> None:
    names = [str(number) for number in range(300)]
    few, many = names[:60:3], names[:300:3]
    assert inserted_places([], names[:60], (), {*names[:60]}) is not None
    assert inserted_places(few, names[:60], (), {*names[:60]} - {*few}) is not None
    assert inserted_places(many, names, (), {*names} - {*many}) is None
