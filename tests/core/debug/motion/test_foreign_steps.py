"""A step over what a foreign operation was lowered to is one step, forward and back."""

from __future__ import annotations

from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.graph.foreign_origin import FOREIGN_SCOPE
from gradstep.core.io.open_document import read
from gradstep.core.program.derive import derive
from tests.traces.trace_archive import traces


def session(name: str) -> DebugSession:
    return DebugSession(derive(read(traces() / f"{name}.gstrace")))


def _scopes(found: DebugSession) -> list[str]:
    """Of the foreign operation that each F10 from the start went over; "" for none."""
    seen = []
    plan = found.timeline.plan
    while found.stop.reason != "end":
        found.step()
        last = plan.steps[found.stop.step - 1].op
        own = plan.graph.operations.get(last.origin or last.name)
        seen.append("" if own is None else str(own.attrs.get(FOREIGN_SCOPE, "")))
    return seen


def test_a_step_is_one_foreign_operation() -> None:
    """Weights come with the operation that reads them first: no step is for them alone."""
    over = _scopes(session("mlp"))
    assert [scope for scope in over if scope] == [
        "0/linear", "1/relu", "2/linear", "loss/cross_entropy_loss",
        "loss/cross_entropy_loss", "2/linear", "1/relu", "0/linear",
    ]  # fmt: skip


def test_stepping_in_goes_inside() -> None:
    found = session("mlp")
    found.run_to("0/linear/MatMul")
    found.step_into()
    assert found.stop.op == "0/linear/BiasAdd"
    found.step_out()
    assert found.stop.op == "1/relu/Relu"
    found.step_back()
    assert found.stop.op == "0/bias"  # the first of what it reads
