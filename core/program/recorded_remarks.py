"""What a gradient that was recorded elsewhere does not follow from the graph alone, as problems."""

from __future__ import annotations

from gradstep.core.document.document import Document
from gradstep.core.graph.problems import RECORDED_GRADIENT, Problem

TO_COMPARE = "hold them against each other: Device diff, with recorded"


def recorded_remarks(document: Document) -> list[Problem]:
    """A warning for each weight of which something is known."""
    run = document.recorded
    return [
        Problem(name, RECORDED_GRADIENT, text, TO_COMPARE, severity="warning")
        for name, text in (run.remarks.items() if run is not None else ())
        if name in document.graph
    ]
