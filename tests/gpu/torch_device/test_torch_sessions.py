"""Random programs on PyTorch: nothing is refused, and what is run again is the same to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

pytest.importorskip("torch")

from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.move_definition import DebuggerState
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.gpu.compare import compare
from gradstep.gpu.devices import Devices
from tests.support.drawn_share import share
from tests.support.layouts import Case
from tests.support.random_programs import programs

_TORCH = Devices().open_backend("torch:cpu")


@settings(max_examples=share(100), deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_nothing_is_refused_and_nothing_differs(case: Case) -> None:
    try:
        found = compare(case.program, NumpyBackend(), _TORCH)
    except GradstepError:
        return  # it cannot start, on any device
    alone = [n for n in found.nodes if n.right.status == "raised" and n.left.status != "raised"]
    assert [(n.name, n.type, n.right.text) for n in alone] == []
    made = [n for n in found.nodes if n.creates and n.left.status == n.right.status == "ok"]
    made = [n for n in made if not n.rule]  # as of the sign of NaN, which is 0 there
    assert [(n.name, n.type, n.metrics) for n in made] == []


@settings(max_examples=share(30), deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_a_second_session_gives_the_same_bits(case: Case) -> None:
    first, second = (DebugSession(case.program, _TORCH) for _ in range(2))
    assume(first.state is not DebuggerState.EMPTY)
    stops = [session.continue_() for session in (first, second)]
    assert str(stops[0].error) == str(stops[1].error)
    if stops[0].error is None:
        for ref in case.fetches:
            a, b = (session.frame(0, None).value(ref) for session in (first, second))
            assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
