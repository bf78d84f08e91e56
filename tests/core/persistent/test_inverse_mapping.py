"""Keys by their values hold after any edits, and what is alike is not looked at again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.persistent.inverse_mapping import InverseMapping

ENTRIES = st.dictionaries(st.integers(0, 400), st.integers(0, 40), max_size=60)
BASE = dict(zip(range(1000, 1300), range(300), strict=True))


@st.composite
def edits(draw: st.DrawFn) -> list[dict[int, int]]:
    """Mappings, each made of the one before: entries come, go and change, some at their places."""
    found = [draw(ENTRIES) | draw(st.sampled_from([{}, BASE]))]
    for _ in range(draw(st.integers(1, 4))):
        entries = [*found[-1].items()]
        for _ in range(draw(st.integers(0, 3))):
            at = draw(st.integers(0, len(entries)))
            entries[at : at + draw(st.integers(0, 2))] = draw(ENTRIES.map(dict.items))
        found.append(dict(entries))
    return found


@given(edits(), st.booleans(), st.data())
def test_finds_the_key_whatever_was_known_before(
    mappings: list[dict[int, int]], last: bool, data: st.DataObject
) -> None:
    before: InverseMapping[int, int] | None = None
    for entries in mappings:
        inverse = InverseMapping(entries, before, last)
        rows = [*entries.items()] if last else [*entries.items()][::-1]
        wanted = {value: key for key, value in rows}
        for value in data.draw(st.permutations(range(-1, 41)))[: data.draw(st.integers(0, 41))]:
            assert inverse.get(value) == wanted.get(value)
        before = inverse


def test_looks_at_all_once_for_a_mapping_and_what_is_made_of_it() -> None:
    asked = []

    class Counted(dict[int, int]):
        def values(self):  # type: ignore[no-untyped-def]
            asked.append(self)
            return super().values()

    first = InverseMapping(Counted(BASE))
    assert first.get(299) == 1299
    again = InverseMapping(first._entries, first)
    assert again.get(299) == 1299
    assert len(asked) == 1


def test_a_value_outside_of_what_differs_is_looked_up_in_what_was_known() -> None:
    first = InverseMapping(BASE)
    assert first.get(3) == 1003
    fewer = InverseMapping({k: v for k, v in BASE.items() if v != 7}, first)
    assert fewer.get(299) == 1299
    assert fewer._known is first._known  # nothing was made for it
    assert fewer.get(7) is None
