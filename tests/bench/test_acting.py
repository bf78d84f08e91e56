"""The rows of what users do in the window; nothing is timed here."""

from __future__ import annotations

from tests.bench.acting import rows, table

COSTS = {"window": 0.05, "engine": 0.02, "deaf": 0.03}


def test_a_row_holds_window_and_engine_to_the_target_together() -> None:
    both, deaf = rows({"open": {10_000: {"edit: stop": COSTS}}})
    assert both["name"] == "open, 10,000 operations: edit: stop"
    assert (round(both["value"], 3), both["target"], both["met"]) == (0.07, 0.060, False)
    assert (both["window"], both["engine"]) == (0.05, 0.02)
    assert (deaf["value"], deaf["target"], deaf["met"]) == (0.03, 0.1, True)


def test_a_size_without_targets_is_measured_all_the_same() -> None:
    both, deaf = rows({"folded": {77: {"look: hover": COSTS}}})
    assert both["target"] is both["met"] is deaf["met"] is None


def test_the_table_is_in_milliseconds() -> None:
    assert table(1_000, {"step: F10": COSTS}).splitlines()[1].split() == [
        "step:", "F10", "50.0", "20.0", "30.0", "70.0", "30",
    ]  # fmt: skip
