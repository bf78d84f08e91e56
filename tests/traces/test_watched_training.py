"""A step that a watched training left: it opens there, and the first NaN is named with its line."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import gradstep
from gradstep.core.graph.foreign_origin import foreign_origin
from gradstep.core.io.open_document import read
from tests.traces.trace_verdicts import judge

# Written by tests/traces/nan_training.py.
FILE = Path(__file__).parents[1] / "data" / "traces" / "nan_at_137.gstrace"


def test_it_is_the_step_at_which_the_condition_first_held() -> None:
    document = read(FILE)
    assert "Step 137 of the loop, the first at which isnan(loss)" in document.note
    assert document.initial["noise/variance"].array < 0
    assert document.initial["noise/variance"].array > -0.011  # one step before it was above 0


def test_its_values_are_those_of_the_loop_nan_included() -> None:
    verdict = judge(FILE)
    assert verdict.ok, verdict.off


def test_the_first_nan_is_named_with_its_line() -> None:
    document = read(FILE)
    (loss,) = document.request.of
    explained = gradstep.open(FILE).why(loss.op)
    assert explained.state == "nan"
    assert explained.node is not None
    origin = foreign_origin(document.graph[explained.node])
    assert origin is not None
    assert origin.op == "aten.sqrt.default"
    assert document.recorded is not None
    line = document.recorded.sources[origin.file].splitlines()[origin.line - 1]
    assert line.strip() == "deviation = self.variance.sqrt()"


def test_buffers_are_those_from_before_the_forward_pass() -> None:
    """Moved by 136 steps, not by 137: running the step moves them to where the loop had them."""
    document = read(FILE)
    batches = document.initial["norm/num_batches_tracked"].array
    assert np.array_equal(batches, 136)
