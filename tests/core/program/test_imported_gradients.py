"""Gradients that an imported graph holds, after its forward part was edited."""

from __future__ import annotations

import pytest

from gradstep.core import errors
from gradstep.core.document import document_edits
from gradstep.core.graph.model import Edge, TensorRef
from gradstep.core.program.derive import derive
from tests.soak import documents


@pytest.fixture(autouse=True)
def unsaid(monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody foresaw goes to the log once."""
    monkeypatch.setattr(errors, "_logged", set())


def test_gradients_outlive_the_operations_that_they_were_of(
    caplog: pytest.LogCaptureFixture,
) -> None:
    document = documents.load("cond_updates.pb")
    document = document_edits.disconnect(document, Edge("loss", 0))
    document = document_edits.connect(document, TensorRef("n"), Edge("loss", 0))
    gone = [op.name for op in document.graph if op.name.startswith("cond/")]
    document = document_edits.remove_operations(document, gone)
    assert document.imported  # 'loss' is there, and all that it is differentiated by
    assert "cond/Merge" in {op.origin for op in document.graph}
    derive(document)
    assert not caplog.records


@pytest.mark.parametrize("name", ["adam_minimize", "cond_updates", "overridden", "where_nan_trap"])
@pytest.mark.slow
def test_any_operation_may_go(name: str, caplog: pytest.LogCaptureFixture) -> None:
    """Each third one is tried."""
    document = documents.load(f"{name}.pb")
    for op in [*document.graph][::3]:
        derive(document_edits.remove_operations(document, [op.name]))
        assert not caplog.records, op.name
