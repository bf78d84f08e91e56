"""Older files are brought up one version at a time; newer ones are refused."""

from __future__ import annotations

import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.io.native.file_schema import VERSION
from gradstep.core.io.native.migrations import MIGRATIONS, migrate


def test_each_step_is_taken_in_order() -> None:
    steps = {1: lambda raw: {**raw, "seen": "1"}, 2: lambda raw: {**raw, "seen": raw["seen"] + "2"}}
    assert migrate({"version": 1}, 1, 3, steps) == {"version": 3, "seen": "12"}


def test_every_older_version_can_be_read() -> None:
    assert set(MIGRATIONS) == set(range(1, VERSION))


def test_a_newer_version_says_so() -> None:
    with pytest.raises(GradstepError, match="newer Gradstep") as caught:
        migrate({}, VERSION + 1)
    assert "update" in caught.value.hint
