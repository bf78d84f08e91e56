"""The rows of what users do in the window; nothing is timed here."""

from __future__ import annotations

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import Optimizer
from gradstep.core.engine.plan.dependent_steps import dependent_steps
from gradstep.core.graph.model import TensorRef
from gradstep.core.program.derive import derive
from tests.bench import training_graph
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


def test_a_hundred_steps_hang_on_the_gradient_that_is_given_by_hand() -> None:
    nodes = 1_000
    wrt = tuple(TensorRef(name) for name in training_graph.variables(nodes))
    document = training_graph.drawn(nodes).with_(
        request=GradientRequest(of=(TensorRef(training_graph.LOSS),), wrt=wrt),
        optimizers=(Optimizer("Adam", {"learning_rate": 0.01}),),
    )
    program = derive(document)
    plan = DebugSession(program).plan
    given = plan.tensors[program.edges[training_graph.near_input(nodes)]]
    assert isinstance(given, int)
    behind = dependent_steps(plan, [given], 0, len(plan.steps))
    assert 95 <= sum(map(len, behind)) <= 105
