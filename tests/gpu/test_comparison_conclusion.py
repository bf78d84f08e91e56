"""What a comparison says as a whole follows from its rows, and never contradicts them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.ops.typing.missing_inputs import Waiting
from gradstep.core.protocol.messages import ComparedNode, SideResult
from gradstep.gpu import comparison_conclusion
from gradstep.gpu.comparison_conclusion import Compared
from tests.support.each_case import each_of

OK, RAISED = SideResult(status="ok"), SideResult(status="raised", text="no")
RULE = "emulate:jax: factors are rounded to TF32 (a manual)"


def node(name: str, verdict: str = "equal", **more: object) -> ComparedNode:
    side = RAISED if verdict == "raises" else OK
    return ComparedNode(
        name=name, type="MatMul", phase="forward", verdict=verdict, left=side, right=side, **more
    )


def compared(rows: list[ComparedNode], waits: dict[str, Waiting] | None) -> Compared:
    """In a graph in which each node reads the one before it."""
    names = [row.name for row in rows]
    reads = [(), *((TensorRef(name),) for name in names)]
    graph = Graph.of(Operation(n, "Identity", inputs=r) for n, r in zip(names, reads, strict=False))
    return Compared(rows, "cpu", "the other", graph, waits or {})


def conclusion(rows: list[ComparedNode], waits: dict[str, Waiting] | None = None) -> str:
    return " ".join(comparison_conclusion.conclusion(compared(rows, waits)))


def brief(rows: list[ComparedNode], waits: dict[str, Waiting] | None = None) -> str:
    return comparison_conclusion.brief(compared(rows, waits))


@st.composite
def nodes(draw) -> list[ComparedNode]:
    found = []
    for number in range(draw(st.integers(1, 12))):
        verdict = draw(st.sampled_from(("equal", "close", "differs", "raises", "unavailable")))
        differs = verdict == "differs" or (verdict == "raises" and draw(st.booleans()))
        terms = draw(st.sampled_from((0, 0, 3, 1_000_000)))
        found.append(
            node(
                f"n{number}",
                verdict,
                differs=differs,
                creates=differs and draw(st.booleans()),
                created=draw(st.sampled_from((None, 0.0, 1e-7))),
                inherited=draw(st.sampled_from((None, 0.0, 1e-3))),
                terms=terms,
                unknown="the order is not emulated" if terms else draw(st.sampled_from(("", "x"))),
                metrics={"rel_l2": 1e-7} if verdict == "close" else {},
            )
        )
    return found


@given(nodes())
def test_the_words_follow_from_the_rows(rows: list[ComparedNode]) -> None:
    text, short = conclusion(rows), brief(rows)
    differing = [row for row in rows if row.differs]
    assert ("No node" in text) == ("no node" in short) == (not differing)
    if differing:
        assert short.startswith(f"{len(differing)} of {len(rows)} node")
    creators = [row.name for row in rows if row.creates]
    assert ("First divergence" in text) == bool(creators)
    if creators:
        assert f"First divergence: {creators[0]} (MatMul)" in text
    unknown = any(row.unknown for row in rows)
    missing = any(row.verdict == "unavailable" for row in rows)
    assert ("Not emulated: " in text) == unknown
    assert ("are not compared" in text or "is not compared" in text) == missing
    if unknown or missing:
        assert "No node makes a difference." not in text
        assert short != "no node differs"
    alike = any(row.verdict == "raises" and not row.differs for row in rows)
    assert ("on both alike" in text) == alike


def test_who_differs_though_nobody_does_by_itself_has_it_from_somebody() -> None:
    rows = [
        node("m1", "close", created=2.8e-4, rule=RULE, kind="rounding", because="TF32"),
        node("h", "differs", differs=True, created=0.0, inherited=8.4e-4),
        node("gx", "differs", differs=True, inherited=4.4e-3, metrics={"amplification": 5.2}),
    ]
    assert conclusion(rows) == (
        "Rounding: TF32 (m1 makes up to 0.00028). That explains all 2 nodes that differ, amplified "
        "5.2× at gx, and reaches 0.0044 at gx. 2 of 3 nodes differ."
    )


def test_long_lists_are_counted() -> None:
    rows = [node(f"s{n}", terms=10**n, unknown="order") for n in range(1, 6)]
    assert conclusion(rows) == (
        "No node makes a difference by the rules that are emulated. Not emulated: the order of "
        "sums in s5 (100,000 terms), s4 (10,000 terms), s3 (1,000 terms) and 2 more. There a real "
        "device may round otherwise."
    )


def test_of_four_one_is_counted() -> None:
    rows = [node(n, unknown="bits") for n in "abcd"]
    assert "the last bits of a, b, c and 1 more." in conclusion(rows)


def close(name: str, **metrics: float) -> ComparedNode:
    return node(name, "close", metrics=metrics)


@each_of(
    ("rows", "short", "text"),
    [
        ([node("a")], "no node differs", "No node makes a difference."),
        (
            [node("a"), close("b", share=0.07)],
            "no node differs",
            "Rounding only. No node differs by more than it may round: 1 node is close, b the "
            "least so, with 7 % of its tolerance.",
        ),
        (
            [close("a", share=0.001), close("b", share=0.002)],
            "no node differs",
            "Rounding only. No node differs by more than it may round: 2 nodes are close, b the "
            "least so, with less than 1 % of its tolerance.",
        ),
        (
            [close("a", share=1.0), close("b", share=0.5), close("c")],  # c: not to be measured
            "no node differs",
            "Rounding only. No node differs by more than it may round: 3 nodes are close, a the "
            "least so, with 100 % of its tolerance.",
        ),
        (
            [node("a", "differs", differs=True, creates=True), node("b")],
            "1 of 2 nodes differs",
            "Neither rounding nor a known rule. First divergence: a (MatMul): more than its "
            "arithmetic may round. 1 of 2 nodes differs.",
        ),
        (
            [node(name, "differs", differs=True, creates=name != "a") for name in "abc"],
            "3 of 3 nodes differ",
            "Neither rounding nor a known rule. First divergence: b (MatMul) and 1 more: more than "
            "its arithmetic may round. 3 of 3 nodes differ.",
        ),
        (
            [node("a", "differs", differs=True)],
            "1 of 1 node differs",
            "1 of 1 node differs.",
        ),
        (
            [
                node("z", created=1e-8),
                node("a", created=2e-7),
                node("b", "differs", differs=True),
                node("c", "differs", differs=True, inherited=1e-3),
            ],
            "2 of 4 nodes differ",
            "Rounding: sums and functions round otherwise (z and a make up to 2e-07 each). That "
            "explains all 2 nodes that differ, and it reaches 0.001 at c. 2 of 4 nodes differ.",
        ),
        (
            [node("a", "raises"), node("b", "unavailable")],
            "no node differs (1 not compared)",
            "No node that is compared makes a difference. a fails on both alike. 1 node is not "
            "compared: an input is not available.",
        ),
        (
            [*(node(n, "raises") for n in "abc"), *(node(n, "unavailable") for n in "de")],
            "no node differs (2 not compared)",
            "No node that is compared makes a difference. a, b and c fail on both alike. 2 nodes "
            "are not compared: an input is not available.",
        ),
        (
            [
                node("a", unknown="bits"),
                node("b", unknown="order", terms=3),
                node("c", unknown="x"),
            ],
            "no node differs (3 emulated in part)",
            "No node makes a difference by the rules that are emulated. Not emulated: the order of "
            "sums in b (3 terms); the last bits of a and c. There a real device may round "
            "otherwise.",
        ),
    ],
)
def test_the_words(rows: list[ComparedNode], short: str, text: str) -> None:
    assert brief(rows) == short
    assert conclusion(rows) == text


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ("a", "No node that is compared makes a difference. 1 node is not compared: it waits for "),
        ("ab", "No node that is compared makes a difference. 2 nodes are not compared: they wait "),
    ],
)
def test_nodes_that_wait_are_counted(names: str, text: str) -> None:
    waits = {name: Waiting("x") for name in names}
    assert conclusion([node("c")], waits).startswith(text)
    assert brief([node("c")], waits) == f"no node differs ({len(names)} not compared)"
