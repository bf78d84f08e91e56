"""Python names after operations, held to the plain definition of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.document.function_lookup import argument_names, identifier

WORDS = st.sampled_from(["a", "s/a", "a_2", "a_3", "", "x", "x_2", "class", "class_", "1", "op"])


def plain(words: Sequence[str], taken: Collection[str]) -> list[str]:
    """The first number that is free, found anew for each."""
    chosen: list[str] = []
    for word in words:
        base = identifier(word.rpartition("/")[2] or "x")
        name, count = base, 1
        while name in chosen or name in taken:
            count += 1
            name = f"{base}_{count}"
        chosen.append(name)
    return chosen


@given(st.lists(WORDS, max_size=20), st.sets(WORDS, max_size=4))
def test_each_has_the_first_number_that_is_free(words: list[str], taken: set[str]) -> None:
    assert argument_names(words, taken) == plain(words, taken)


class Counted(frozenset[str]):
    """Counts how often it is asked for something."""

    asked = 0

    def __contains__(self, name: object) -> bool:
        self.asked += 1
        return super().__contains__(name)


def test_many_of_one_name_take_no_square_of_their_number() -> None:
    def asked() -> Iterator[int]:
        for size in (200, 400):
            taken = Counted({"add", *(f"add_{number}" for number in range(2, size))})
            argument_names(["scope/add"] * size, taken)
            yield taken.asked

    few, many = asked()
    assert many <= 2.5 * few
