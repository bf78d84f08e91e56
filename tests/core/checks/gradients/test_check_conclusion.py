"""Whatever rows a check has, its words and its exit status follow from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradstep.core.checks.gradients.check_conclusion import Known, conclusion
from gradstep.core.checks.gradients.gradient_sentences import said
from gradstep.core.document.expectation import Expectation, ExpectationKind, Variation
from gradstep.core.graph.problems import Problem
from gradstep.core.protocol.messages import (
    CheckedExpectation,
    CheckedTensor,
    GradientRow,
    GradientTable,
    NodeCheck,
)
from tests.support.drawn_share import share

VERDICTS = ("ok", "ok", "ok", "kink", "float32 limit", "TensorFlow's", "wrong")
RANK = {verdict: rank for rank, verdict in enumerate(VERDICTS)}
NAMES = ("a", "b", "c")


@dataclass
class Found:
    """A table, the problems and expectations beside it, and which gradients are expected."""

    table: GradientTable
    problems: list[Problem]
    expectations: list[CheckedExpectation]
    known: Known

    @property
    def verdicts(self) -> set[str]:
        """All that are in the table."""
        tensors = [*self.table.second, *(t for node in self.table.nodes for t in node.tensors)]
        return {x.verdict for x in (*self.table.rows, *tensors)}


def tensor(draw: Any, name: str, node: str, order: int) -> CheckedTensor:
    verdict = draw(st.sampled_from(VERDICTS))
    return CheckedTensor(
        name=name, index=[0], analytic=0.0, numeric=-0.5, difference=0.5, method="complex step",
        verdict=verdict, text=f"{verdict} at index [0]", node=node, type="Op", order=order,
        why="it leaves something out" if verdict == "TensorFlow's" else "",
    )  # fmt: skip


def row(draw: Any, overridden: bool) -> GradientRow:
    verdict = draw(st.sampled_from(VERDICTS))
    return GradientRow(
        name=draw(st.sampled_from(NAMES)), index=[], native=1.0, numeric=1.0,
        override=2.0 if overridden else None, agrees=verdict != "wrong", verdict=verdict,
        text=f"{verdict} at index [0]",
    )  # fmt: skip


def node(draw: Any, name: str) -> NodeCheck:
    orders = draw(st.lists(st.integers(1, 2), min_size=1, max_size=3))
    tensors = [tensor(draw, "x", name, order) for order in orders]
    worst = max((t.verdict for t in tensors), key=RANK.__getitem__)
    wrong = any(t.verdict == "wrong" and t.order == 1 for t in tensors)
    return NodeCheck(
        node=name, gradient="Op", agrees=not wrong, text="…", verdict=worst, tensors=tensors
    )


@st.composite
def found(draw: Any) -> Found:
    overridden = draw(st.booleans())
    rows = [row(draw, overridden) for _ in range(draw(st.integers(0, 3)))]
    nodes = [node(draw, f"n{i}") for i in range(draw(st.integers(0, 3)))]
    second = [tensor(draw, name, "", 2) for name in draw(st.sets(st.sampled_from(NAMES)))]
    supports = draw(st.sampled_from(("native", "override", "both", "neither")))
    if any(r.verdict == "wrong" for r in rows):
        supports = draw(st.sampled_from(("native", "neither")))
    text = said(rows, nodes, second, [], supports)
    table = GradientTable(rows=rows, nodes=nodes, second=second, supports=supports, text=text)
    severities = draw(st.lists(st.sampled_from(("error", "warning", "info")), max_size=2))
    holding = draw(st.lists(st.booleans(), max_size=3))
    return Found(
        table,
        [Problem("n", "kind", "what is wrong", severity=s) for s in severities],
        [CheckedExpectation(text="", what="", kind="", run=0, ok=ok, came="") for ok in holding],
        Known(gradients=frozenset(draw(st.sets(st.sampled_from(NAMES))))),
    )


@settings(max_examples=share(100))
@given(found())
@pytest.mark.slow
def test_a_row_that_is_wrong_is_never_followed_by_agreement(case: Found) -> None:
    end = conclusion(case.problems, case.table, case.expectations, case.known)
    for text in (case.table.text, end.text):
        if "wrong" in case.verdicts:
            assert "agree" not in text
        if "TensorFlow's" in case.verdicts:
            assert "agree with finite differences." not in text
            assert "agree with finite differences;" not in text
    if "TensorFlow's" in {t.verdict for n in case.table.nodes for t in n.tensors}:
        assert "defect of TensorFlow's own" in case.table.text


@settings(max_examples=share(100))
@given(found())
@pytest.mark.slow
def test_the_status_follows_from_the_rows(case: Found) -> None:
    end = conclusion(case.problems, case.table, case.expectations, case.known)
    wrong = {r.name for r in case.table.rows if r.verdict == "wrong"}
    unexpected = wrong - case.known.gradients
    twice = any(t.verdict == "wrong" for t in case.table.second)
    alone = not case.table.rows and any(n.verdict == "wrong" for n in case.table.nodes)
    errors = any(p.severity == "error" for p in case.problems)
    missed = not all(e.ok for e in case.expectations)
    failed = bool(unexpected) or (twice and not wrong) or alone or errors or missed
    assert end.passed == (not failed)
    assert end.text.startswith("failed: " if failed else "passed: ")
    assert errors == any(p.severity == "error" and p.node == "n" for p in end.problems)
    if unexpected or (twice and not wrong) or alone:
        assert any(p.severity == "error" and p.code == "gradient-check" for p in end.problems)


def test_without_gradients_nothing_is_said_of_them() -> None:
    found = conclusion([], None)
    assert found.passed
    nothing = "nothing to check: no gradients are asked for (--of)"
    assert found.text == nothing
    problem = Problem("a", "kind", "what is wrong")
    assert conclusion([problem], None).text == "failed: 1 error"
    warning, remark = replace(problem, severity="warning"), replace(problem, severity="info")
    assert conclusion([warning, warning], None).text == f"{nothing}; 2 warnings"
    assert conclusion([remark], None).text == f"{nothing}; 1 remark"
    assert conclusion([remark, problem], None).text == "failed: 1 error; 1 remark"


def test_a_failure_that_the_document_expects_is_no_error() -> None:
    fails = Expectation("", "b", ExpectationKind.FAILS, message="is not in [0, 5)")
    later = Expectation("", "b", ExpectationKind.FAILS, run=1, message="is not in")
    other = Expectation("", "b", ExpectationKind.FAILS, when=Variation(device="gpu"))
    checked = CheckedExpectation(text="", what="b", kind="fails", run=0, ok=True, came="")
    problem = Problem("b", "gradient-check", "indices[2] = 6 is not in [0, 5)", "fix it")
    end = conclusion([problem], None, [checked], Known.of([fails], [checked]))
    assert (end.passed, end.text) == (
        True,
        "passed: it fails, as the document expects; 1 of 1 expectation holds",
    )
    (said_,) = end.problems
    assert (said_.severity, said_.fix) == ("info", "")
    elsewhere = Problem("c", "gradient-check", "indices[2] = 6 is not in [0, 5)")
    assert not conclusion([elsewhere], None, [checked], Known.of([fails], [checked])).passed
    for expectation in (later, other):
        assert not conclusion([problem], None, [checked], Known.of([expectation], [checked])).passed


def test_only_what_gives_a_gradient_as_it_stands_settles_it() -> None:
    checked = CheckedExpectation(text="", what="", kind="", run=0, ok=True, came="")
    kinds, holds = ExpectationKind, 'norm(grad["b"]) > 1'
    said_ = [
        Expectation("", 'grad["a"]', kinds.NONE),
        Expectation("", 'grad["b"]', kinds.DIFFERS, other='x["b"]'),
        Expectation("", holds, kinds.HOLDS),
        Expectation("", 'grad["c"]', kinds.NONE, run=1),
        Expectation("", 'x["d"]', kinds.NONE),
        Expectation("", 'grad["e"]', kinds.NONE, when=Variation(overrides=False)),
    ]
    assert Known.of(said_, [checked] * len(said_)).gradients == {"a"}
    failed = CheckedExpectation(text="", what="", kind="", run=0, ok=False, came="")
    assert Known.of(said_[:1], [failed]) == Known()
