"""docs/expressions.md names every function of the language, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from gradstep.core.debug.breaks.expression import (
    _ARGUMENTS,
    _CONSTANTS,
    _TABLES,
    FUNCTIONS,
)

PAGE = Path(__file__).parents[4] / "docs" / "expressions.md"


def test_it_names_all_functions() -> None:
    said = PAGE.read_text()
    _, _, functions = said.partition("Functions of one argument:")
    functions, _, of_more = functions.partition("Of more:")
    one = set(re.findall(r"`(\w+)`", functions))
    more = set(re.findall(r"`(\w+)\(", of_more.partition("##")[0]))
    assert one == {*FUNCTIONS} - set(_ARGUMENTS)
    assert more == set(_ARGUMENTS)


def test_it_names_all_tables_and_constants() -> None:
    said = PAGE.read_text()
    assert set(re.findall(r"\b(\w+)\[\"w\"\]", said)) >= set(_TABLES)
    assert all(f"`{name}`" in said for name in _CONSTANTS)
