"""Themes: every colour that can be named is there."""

from __future__ import annotations

from dataclasses import fields
from typing import get_args

import pytest

from gradstep.gui.look.theme import DARK, LIGHT, Theme, Tone


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_colours_that_can_be_named_are_those_that_there_are(theme: Theme) -> None:
    names = get_args(Tone)
    assert names == tuple(field.name for field in fields(Theme) if field.name != "name")
    assert all(theme.tone(name).isValid() for name in names)


def test_what_is_in_no_phase_is_muted() -> None:
    assert DARK.phase("backward") is DARK.backward
    assert DARK.phase("") is DARK.muted
    assert DARK.phase("panel") is DARK.muted  # a colour, and no phase
