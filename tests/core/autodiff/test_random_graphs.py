"""Gradients of random graphs over every differentiable op agree with finite differences.

A few dozen graphs as a rule. Two thousand, in about a minute and a half:

    HYPOTHESIS_PROFILE=thorough ./dev test tests/core/autodiff/test_random_graphs.py
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, event, given, settings

from gradstep.core.autodiff.check.check_result import Verdict
from gradstep.core.autodiff.check.tensor_gradcheck import examine
from gradstep.core.ops.declare import table
from gradstep.core.ops.declare.declared_gradient import Gradient
from gradstep.core.ops.declare.table import all_ops, lookup
from tests.support.derivative_excuses import NOT_AGAINST_DIFFERENCES
from tests.support.interpret import evaluate
from tests.support.random_graphs import Drawn, choices, graphs

_OF_ARRAYS = [d.type for d in all_ops() if d.state.per_run and d.gradient.differentiable]
# Differentiable, but nothing that can stand in such a graph.
NOT_DRAWN = {
    **NOT_AGAINST_DIFFERENCES,
    "Print": "it prints",
    "While": "runs a graph",
    **dict.fromkeys(_OF_ARRAYS, "of the run's arrays"),
    **dict.fromkeys(("Switch", "RefSwitch", "Merge", "RefMerge"), "one side of it is dead"),
}


_FEW = settings(max_examples=50, database=None, phases=[Phase.generate], deadline=None)


@pytest.mark.timeout(3600)
@settings(deadline=None, suppress_health_check=[*HealthCheck], print_blob=True)
@given(graphs())
@pytest.mark.slow
def test_gradients_agree_with_finite_differences(drawn: Drawn) -> None:
    _check(drawn)


def _check(drawn: Drawn) -> None:
    for ref, examined in examine(evaluate, drawn.graph, drawn.request, drawn.point, {}).items():
        finding = examined.finding
        event(f"{finding.verdict}, {finding.method}")
        assert finding.verdict in (Verdict.OK, Verdict.KINK), (
            f"{ref}: {finding.text}: {drawn.types}"
        )


@pytest.mark.slow
def test_a_wrong_rule_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is off by a thousandth, among all others."""
    sine = lookup("Sin")
    rule = sine.gradient.rule
    assert rule is not None
    off = replace(sine, gradient=Gradient(lambda op, g: rule(op, g) * 1.001))
    monkeypatch.setitem(table._TABLE, "Sin", off)
    with pytest.raises(AssertionError, match="wrong"):
        settings(_FEW)(given(graphs())(_check))()


def test_every_differentiable_op_is_among_them() -> None:
    drawn = Counter(definition.type for definition, _ in choices())
    missing = {d.type for d in all_ops() if d.gradient.differentiable and d.inputs} - set(drawn)
    assert missing == set(NOT_DRAWN)
