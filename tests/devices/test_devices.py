"""What is known of emulated systems: it is as their libraries answer, and no more is claimed."""

from __future__ import annotations

import json

import pytest

from gradstep.core.ops.declare.table import all_ops
from gradstep.gpu.corner_cases import all_corners
from gradstep.gpu.emulated_systems import PROFILES
from gradstep.gpu.rule_statuses import BITS, cells, status_of
from tests.devices import card_rows
from tests.devices.__main__ import PAGE, main
from tests.devices.holding import libraries, mismatches, recording
from tests.devices.page import page
from tests.devices.questions import questions

QUESTIONS = questions()
ASKED = [(library, name) for library in libraries() for name in QUESTIONS]
SOME = 13  # each so many-th of 500 cases: `./dev devices` takes all
ON_CARD = ("subnormals", "tf32")  # held by tests/gpu/test_recorded_card.py


@pytest.mark.slow
@pytest.mark.parametrize("library", libraries())
def test_a_profile_gives_what_its_library_answered(library: str) -> None:
    for name, question in QUESTIONS.items():
        status = status_of(library, question.type, question.corner).status
        if recording(library).has(name) and status == "measured":
            assert mismatches(library, name, SOME) == [], name


def test_what_a_library_leaves_open_is_claimed_by_nobody() -> None:
    """Which of equal numbers PyTorch's topk puts first: the profile gives another."""
    assert mismatches("torch", "TopKV2 ties")
    assert status_of("torch", "TopKV2", "ties_in_top_k").status == "unknown"


@pytest.mark.parametrize("profile", PROFILES)
def test_what_is_claimed_to_be_measured_was_asked(profile: str) -> None:
    claimed = {(c.corner, c.op) for c in cells(profile) if c.status == "measured"}
    asked = set()
    if profile in libraries():
        held = recording(profile)
        asked = {(q.corner, q.type) for name, q in QUESTIONS.items() if held.has(name)}
    if profile == "cupy":
        asked = {(corner, type_) for corner, type_, _ in card_rows.ROWS.values()}
        asked |= {("no_room", "Cast")}  # casts of every pair: tests/gpu/test_recorded_card.py
    on_card = ON_CARD if profile not in ("tf-xla", "onnxruntime") else ()
    assert {pair for pair in claimed if pair[0] not in on_card} <= asked


@pytest.mark.parametrize("row", card_rows.ROWS)
def test_cupys_profile_gives_what_cupy_did_on_a_card(row: str) -> None:
    assert card_rows.is_held(row)


@pytest.mark.parametrize("profile", PROFILES)
def test_every_operation_has_cells_and_each_says_from_where(profile: str) -> None:
    found = list(cells(profile))
    pairs = {(cell.op, cell.corner) for cell in found}
    assert len(pairs) == len(found)
    assert {op for op, corner in pairs if corner == BITS} == {d.type for d in all_ops()}
    assert {pair for pair in pairs if pair[1] != BITS} == {
        (op, corner.name) for corner in all_corners() for op in corner.ops
    }
    for cell in found:
        assert bool(cell.where) == (cell.status != "unknown")
        assert status_of(profile, cell.op, cell.corner) == cell


def test_every_question_is_of_a_corner_that_the_operation_has() -> None:
    corners = {corner.name: corner.ops for corner in all_corners()}
    assert all(question.type in corners[question.corner] for question in QUESTIONS.values())


@pytest.mark.slow
def test_the_counts_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--json", "--every", "50"])
    profiles = json.loads(capsys.readouterr().out)["profiles"]
    assert set(profiles) == set(PROFILES)
    for name, row in profiles.items():
        assert row["cells"] == row["measured"] + row["read"] + row["unknown"]
        assert row["unknown"] > 0
        assert row["mismatches"] == 0
        assert (row["cases"] > 0) == (name in (*libraries(), "cupy"))


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "./dev docs writes it anew"
