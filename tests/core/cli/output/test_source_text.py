"""Why-answers about a traced program say its line of source."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradstep.core.cli.output.source_text import source_line
from gradstep.core.document.document import Document
from gradstep.core.graph.foreign_origin import FOREIGN_OP, FOREIGN_SCOPE, SOURCE_LINE
from gradstep.core.graph.model import Graph, Operation
from tests.core.cli.conftest import Cli

TRACE = Path(__file__).parents[3] / "data" / "traces" / "nan_at_137.gstrace"
LINE = "tests/traces/nan_training.py:30: deviation = self.variance.sqrt()"


@pytest.mark.slow
def test_why_says_the_line(cli: Cli) -> None:
    assert f"  line: {LINE}" in cli("why", TRACE).out
    told = json.loads(cli("why", TRACE, "--json").out)
    assert {one["source"] for one in told["gradients"].values()} == {LINE}


def test_a_file_that_is_not_there_has_no_text() -> None:
    marks = {FOREIGN_OP: "aten.relu.default", FOREIGN_SCOPE: "r", SOURCE_LINE: "net.py:7"}
    document = Document(
        graph=Graph.of([Operation("r", "Relu", attrs=marks), Operation("n", "Neg")])
    )
    assert source_line(document, "r") == "net.py:7"
    assert source_line(document, "n") == source_line(document, None) == ""
