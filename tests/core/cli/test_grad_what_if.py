"""gradstep grad --what-if: variants side by side, and where they part from the native gradient."""

from __future__ import annotations

import pytest

from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER


def test_an_override_parts_where_it_is_in_force(cli: Cli) -> None:
    found = cli("grad", FOLDER / "override_add.gradstep", "--what-if", "--json").json["what_if"]
    cells = found["gradients"]["c"]
    assert [*cells] == [
        "native", "as it stands", "overrides only", "stops only", "numeric", "straight-through",
    ]  # fmt: skip
    assert cells["native"]["norm"] == pytest.approx(1.144921, abs=1e-5)
    assert cells["as it stands"]["parts_at"] == {
        "node": "e",
        "type": "PyFunc",
        "why": "gradient CustomAdd in place of AddV2's own",
    }
    assert cells["numeric"]["same"]
    assert cells["numeric"]["parts_at"] is None


def test_a_stop_on_the_command_line_counts(cli: Cli) -> None:
    asked = ("grad", FOLDER / "tutorial.gradstep", "--stop", "a<1", "--what-if")
    lines = cli(*asked).out.splitlines()
    [stands] = [line for line in lines if "as it stands" in line and "None" in line]
    assert "a (" in stands
    assert "stop on the wire e → a" in stands
    assert sum("the same" in line for line in lines) == 6  # of two variables


def test_straight_through_is_what_the_override_by_identity_gives(cli: Cli) -> None:
    out = cli(
        "grad", FOLDER / "floor_identity.gradstep", "--what-if", "--json"
    ).json["what_if"]  # fmt: skip
    assert out["errors"] == {}
    rounded = out["gradients"]["x"]["straight-through"]
    assert rounded["norm"] == out["gradients"]["x"]["as it stands"]["norm"]
    assert out["gradients"]["x"]["native"]["norm"] is None
