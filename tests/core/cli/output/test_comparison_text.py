"""A comparison in the terminal: sentences first, equal nodes folded, rules once, details asked."""

from __future__ import annotations

import pytest

from gradstep.core.cli.output.comparison_text import comparison_text, detail_text, ulp_range
from gradstep.core.errors import GradstepError
from gradstep.core.protocol.messages import (
    ComparedNode,
    Comparison,
    ElementPair,
    NodeDifference,
    SideResult,
)

RULE = "emulate:jax: factors are rounded to TF32 (a manual)"


def node(name: str, verdict: str = "equal", **more: object) -> ComparedNode:
    side = SideResult(status="ok", dtype="float32", shape=[2], values=[1.0, 2.0])
    return ComparedNode(
        name=name, type="MatMul", phase="forward", verdict=verdict, left=side, right=side, **more
    )


DETAIL = NodeDifference(
    output=0,
    worst=[ElementPair(index=[1], left=2.0, right="NaN", reference=2.5)],
    ulps=[1, 0, 0, 3],
    nonfinite_right=1,
    mask=".r",
)
FOUND = Comparison(
    left="cpu",
    right="emulate:jax",
    measured=False,
    source="a manual",
    brief="1 of 5 nodes differs",
    text="One. Two.",
    sentences=["One.", "Two."],
    hazards=["m: beware"],
    nodes=[
        node("a"),
        node("b", unknown="the last bits are not emulated"),
        node("m", "close", rule=RULE, metrics={"max_abs": 0.5, "ulp_p99": 12.0, "share": 0.3}),
        node("n", "differs", rule=RULE, metrics={"share": 40.0}, detail=DETAIL, created=1e-3),
        node("z"),
    ],
)


def test_sentences_come_first_and_equal_nodes_are_counted() -> None:
    lines = comparison_text(FOUND).split("\n")
    assert lines[:3] == ["emulate:jax against cpu: 1 of 5 nodes differs", "  One.", "  Two."]
    text = "\n".join(lines[4:])
    assert "… 2 equal" in text
    assert "1 emulated in part" in text
    assert "… 1 equal" in text
    assert [line.split()[0] for line in lines[4:] if "MatMul" in line] == ["m", "n"]
    assert "5.0e-01  12" in text
    assert "30 %" in text
    assert "40×" in text
    assert text.count(RULE) == 1
    assert text.count("[1]") == 3
    assert lines[-2:] == ["emulate:jax is emulated: a manual", "m: beware"]


def test_every_node_is_shown_on_asking() -> None:
    text = comparison_text(FOUND, every=True)
    assert "… " not in text
    assert "the last bits are not emulated" in text


def test_of_a_loop_the_iteration_is_said() -> None:
    nodes = [node("w/n", "differs", iteration="iteration 3")]
    found = Comparison(left="cpu", right="recorded", measured=True, source="", nodes=nodes)
    assert "MatMul, iteration 3" in comparison_text(found)


def test_where_all_are_equal_there_is_no_table() -> None:
    found = Comparison(
        left="cpu", right="gpu", measured=True, source="", text="No.", nodes=[node("a"), node("b")]
    )
    lines = comparison_text(found).split("\n")
    assert lines[1:4] == ["  No.", "", "2 nodes are equal; --all shows them"]
    assert "MatMul" in comparison_text(found, every=True)


def test_a_long_name_loses_its_middle_and_is_whole_on_asking() -> None:
    name = "gradients/" + "deep/" * 20 + "MatMul"
    found = Comparison(
        left="cpu", right="gpu", measured=True, source="", nodes=[node(name, "differs")]
    )
    assert name not in comparison_text(found)
    assert "gradients/deep/" in comparison_text(found)
    assert name in comparison_text(found, every=True)


def test_the_detail_of_a_node() -> None:
    text = detail_text(FOUND, "n")
    assert text.startswith("n (MatMul) on cpu and emulate:jax: differs")
    assert RULE in text
    assert "[1]    2    NaN          2.5" in text
    assert "  0    1  ██████████" in text
    assert f"  4–7  3  {'█' * 30}" in text
    assert "  2–3" not in text
    assert "0 on cpu only, 1 on emulate:jax only, 0 on both" in text
    assert text.endswith("  .r")


def test_a_node_that_is_not_there_is_one_clear_line() -> None:
    with pytest.raises(GradstepError, match="there is no node 'q' in the comparison"):
        detail_text(FOUND, "q")


def test_ranges_of_ulps() -> None:
    assert [ulp_range(n) for n in (0, 1, 2, 3, 11)] == ["0", "1", "2–3", "4–7", "1,024–2,047"]
