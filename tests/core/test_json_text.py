"""JSON for people: what fits on a line is on one, and nothing else is."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.json_text import pretty

WIDTH = 96
LEAVES = st.none() | st.booleans() | st.integers() | st.text('aü"\n\\', max_size=40)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner) | st.dictionaries(st.text("kü\t", max_size=20), inner),
    max_leaves=40,
)


def line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def written(value: Any, indent: int = 0) -> str:
    """Each value tried on a line first."""
    if not isinstance(value, list | dict) or not value or indent + len(line(value)) <= WIDTH:
        return line(value)
    inside, space = indent + 2, " " * (indent + 2)
    if isinstance(value, list):
        parts = [f"{space}{written(each, inside)}" for each in value]
        return "\n".join(["[", ",\n".join(parts), " " * indent + "]"])
    parts = [f"{space}{line(k)}: {written(v, inside)}" for k, v in sorted(value.items())]
    return "\n".join(["{", ",\n".join(parts), " " * indent + "}"])


@given(VALUES)
def test_what_fits_on_a_line_is_on_one(value: Any) -> None:
    assert pretty(value) == written(value) + "\n"


def test_the_last_place_of_a_line_is_used() -> None:
    """Nothing is left away as too long that is not, whatever it is made of."""
    fillers: list[Any] = [["a" * 3] * 3, {"k": ["a", {}]}, {"kk": 1, "k": None}, [[], [1]]]
    for inner in fillers:
        for around in ([inner, ""], {"k": inner, "z": ""}):
            last = WIDTH - len(line(around))
            for more in (last, last + 1):
                *_, key = range(len(around)) if isinstance(around, list) else around
                filled: Any = around.copy()
                filled[key] = "x" * more  # type: ignore[index]
                assert (pretty(filled).count("\n") == 1) == (more == last)
                assert pretty(filled) == written(filled) + "\n"
