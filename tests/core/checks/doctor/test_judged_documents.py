"""What the lints say of documents that were not made for them, finding by finding.

Everything in these tables was read beside the graph that it is about, and is right there: an
example that is about a fault has it. What is not in them would be a false alarm.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from gradstep.core.checks.doctor.examined_document import Examined
from gradstep.core.checks.doctor.lint_table import LINTS
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.io.open_document import read
from gradstep.core.program.derive import derive
from tests.support import tensorflow_graphs
from tests.traces.trace_archive import traces

EXAMPLES = sorted((Path(__file__).parents[4] / "assets" / "examples").glob("*.gradstep"))
RUNS = 3  # that are recorded of each example

OF_EXAMPLES: dict[str, set[tuple[str, str]]] = {
    "adam_freezing": {("moved-by-memory", "keep/W"), ("moved-by-memory", "zero_v/W")},
    "assign_in_loop": {("unreached-variable", "assigned/x")},
    "batch_norm_updates": {("forgotten-average", "forgotten/bn/AssignMovingAvg")},
    "center_loss": {("idle-update", "forgotten/move")},
    "control_dependencies": {("idle-update", "plain/plus_1")},
    "control_dependencies_resource": {("idle-update", "plain/plus_1")},
    "floor_ceil_cast": {("unreached-variable", name) for name in "abcf"},
    "softmax_by_hand": {("softmax-twice", "twice/each"), ("log-by-hand", "by_hand/log_p")},
    "straight_through": {("unreached-variable", "plain/v")},
    "wrong_shape": {("broadcast-by-accident", "wrong/error")},
}
# Of networks recorded from PyTorch: BERT's pooler has no part in a loss of its last layer, and the
# others are what they were recorded for.
OF_TRACES: dict[str, set[tuple[str, str]]] = {
    "branch": {("unreached-variable", f"l/{part}") for part in ("weight", "bias")},
    "core_losses": {("log-by-hand", "log_1/Log")},
    "custom_op": set(),
    "dcgan": set(),
    "gpt": set(),
    "hf_bert": {
        ("unreached-variable", f"model/pooler/dense/{part}") for part in ("weight", "bias")
    },
    "losses": set(),
    "mlp": set(),
    "moe": set(),
    "no_grad": set(),
    "partly": {("unreached-variable", f"unused/{part}") for part in ("weight", "bias")},
    "resnet18": set(),
    "unet": set(),
    "vae": set(),
}


def said(document: Document, runs: int = 0) -> set[tuple[str, str]]:
    program = derive(document, trusted=True)
    session = _run(DebugSession(program), runs) if runs else None
    x = Examined(document, program, session)
    asked = [lint for lint in LINTS if session is not None or not lint.subject.of_runs]
    return {(lint.code, found.node) for lint in asked for found in lint.looks(x)}


def _run(session: DebugSession, runs: int) -> DebugSession:
    for _ in range(runs):
        if session.command("continue_").reason != "end":
            break
    return session


@cache
def example(path: Path) -> Document:
    return read(path)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(path: Path) -> None:
    try:
        assert said(example(path), RUNS) == OF_EXAMPLES.get(path.stem, set())
    except GradstepError:  # that runs fail is what it shows
        assert said(example(path)) == OF_EXAMPLES.get(path.stem, set())


@pytest.mark.parametrize("name", OF_TRACES)
def test_recorded_networks(name: str) -> None:
    assert said(read(traces() / f"{name}.gstrace")) == OF_TRACES[name]


@pytest.mark.parametrize("name", tensorflow_graphs.names())
def test_tensorflows_own_graphs(name: str) -> None:
    assert said(tensorflow_graphs.document(name)) == set()
