"""What an edit made another of goes at once: nobody has to look for garbage to find it."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from weakref import ref as weak

import pytest

from gradstep.core.document import document_edits, request_edits
from gradstep.core.graph.model import Edge
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_document import EngineDocument
from gradstep.core.host.engine_service import EngineService
from gradstep.core.io.native import gradstep_file
from gradstep.core.protocol import messages as m

TUTORIAL = Path(__file__).parents[3] / "assets" / "examples" / "tutorial.gradstep"


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
def test_sessions_programs_and_their_sentences_go_with_the_edit_after_them() -> None:
    document = gradstep_file.from_bytes(TUTORIAL.read_bytes())
    op = next(op for op in document.graph if len(op.inputs) == 2)
    given, service = EngineDocument(), EngineService(CpuOnly())
    edits = (
        document,
        request_edits.toggle_stop(document, Edge(op.name, 0)),
        document_edits.rename_operation(document, op.name, "another"),
        document_edits.disconnect(document, Edge(op.name, 1)),
    )
    settings, then = m.Open(keep_position=True), list[weak[object]]()
    for edited in (document, *edits, *edits):
        service.handle(*given.give(edited, settings))
        service.handle(m.Notate(ops=[*edited.graph.operations]))
        scheduler = service._threads
        session = scheduler.session
        program = session.program
        then += map(weak, (scheduler, session, program, program.graph, session.plan))
    still = Counter(type(one).__name__ for each in then if (one := each()) is not None)
    assert len(then) == 45
    assert still["Scheduler"] <= 2  # one may rest
    assert still["DebugSession"] <= 2
    assert still["Program"] <= 3  # of the last edits
    assert still["Graph"] <= 4
    assert still["Plan"] <= 3
