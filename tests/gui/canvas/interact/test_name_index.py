"""Names found by an index are those that a look at each finds, in the same order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gradstep.gui.canvas.interact.fuzzy_match import Searched, ranked
from gradstep.gui.canvas.interact.name_index import NameIndex

NAMES = st.lists(
    st.text("aAbBl/_0", min_size=1, max_size=9)
    | st.sampled_from(["AddV2", "layer", "Ünit", "aÜb", "a\nb"]),
    max_size=40,
)


@given(NAMES, st.text("aAbBlü/_ \n", min_size=1, max_size=4), st.integers(1, 50))
def test_the_best_are_those_that_ranking_all_of_them_gives(
    names: list[str], typed: str, most: int
) -> None:
    if not typed.strip():
        typed = "a"
    best = NameIndex(names).best(typed, most)
    assert best == ranked(typed, range(len(names)), lambda i: Searched(names[i]), most)


def test_none_of_many_names_is_looked_at_by_itself() -> None:
    looked: list[str] = []

    class Spied(list[str]):
        def __getitem__(self, place: object) -> str:  # type: ignore[override]
            looked.append("")
            return list.__getitem__(self, place)  # type: ignore[call-overload, no-any-return]

    index = NameIndex(Spied([*(f"stage{i // 10}/layer{i}/AddV2" for i in range(3_000)), "Ü"]))
    for typed in ("l", "layer", "add", "tag", "2", "lad"):
        assert len(index.best(typed, 60)) == 60
    assert len(looked) == 6, "but for the one that has other letters"
