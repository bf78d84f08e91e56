"""Why explains the value that is shown: at any stop, in any iteration, and with whatever was given
by hand."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from gradstep.core.checks.why.questioned_run import state_of
from gradstep.core.graph.loop import within
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
from gradstep.core.io.native import gradstep_file
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.branch_queries import Inject
from tests.core.host.test_any_question import moves

_STOPS, _NODES = 8, 25


def give(engine: EngineService, drawn: random.Random) -> bool:
    """Give some tensor that has a value zeros, ones, or NaN; whether that was done."""
    view = engine._session.view()
    values = {op.name: view.value(op.output()) for op in within(engine._session.program.graph)}
    floats = [n for n, x in values.items() if isinstance(x, np.ndarray) and x.dtype.kind == "f"]
    if not floats:
        return False
    name = drawn.choice(floats)
    other = np.full_like(values[name], drawn.choice([0.0, 1.0, np.nan]))
    request = Inject(name=name, dtype=str(other.dtype), shape=[*other.shape])
    reply, _ = engine.handle(request, [other.tobytes()])
    return not isinstance(reply, m.Failed)


@pytest.mark.parametrize(
    "name",
    (
        "tutorial while_loop rnn cond_gradients queue_train_validation nan_gradient "
        "batch_norm_updates assign_in_loop"
    ).split(),
)
def test_it_is_in_the_state_that_is_shown(example: Callable[[str], bytes], name: str) -> None:
    drawn, engine = random.Random(name), EngineService(CpuOnly())
    engine.handle(m.Open(), [example(name)])
    operations = [*within(gradstep_file.from_bytes(example(name)).graph)]
    asked, given = 0, 0
    for _ in range(_STOPS):
        for move in moves(drawn, operations):
            engine.handle(move, [])
        given += drawn.random() < 0.5 and give(engine, drawn)
        view, there = engine._session.view(), [*within(engine._session.program.graph)]
        for op in drawn.sample(there, min(len(there), _NODES)):
            shown = view.value(op.output())
            if not isinstance(shown, np.ndarray) or shown.dtype == object:
                continue
            reply, _ = engine.handle(m.Why(of=op.output().short), [])
            assert isinstance(reply, m.Explained), (op.name, reply)
            found = reply.explanation
            assert found.state == state_of(shown), (op.name, engine._session.stop, found.text)
            asked += 1
    assert asked > _STOPS
    assert given or name == "queue_train_validation", "few values are there where all wait"
