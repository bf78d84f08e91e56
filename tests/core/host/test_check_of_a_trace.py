"""Check gradients in the window, of a trace: what was recorded is asked as well as differences."""

from __future__ import annotations

import pytest

from gradstep.core.host.engine_service import EngineService
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.traces.traced_document import from_trace
from gradstep.core.protocol import messages as m
from tests.core.io.traces.test_lost_gradients import partly

NOT_THAT = (
    "The gradient of net/b is not what was recorded: Device diff, with recorded, shows where."
)


@pytest.mark.parametrize(("back", "said"), [(3.0, NOT_THAT), (None, "finite differences.")])
def test_what_was_recorded_is_asked(service: EngineService, back: float | None, said: str) -> None:
    document = from_trace(partly(back).packed("sum_0"))
    service.handle(m.Open(), (gradstep_file.to_bytes(document),))
    table, _ = service.handle(m.CheckGradients(), ())
    assert isinstance(table, m.GradientTable)
    assert table.text.endswith(said)
