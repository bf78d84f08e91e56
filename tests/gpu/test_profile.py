"""Profiles on a device that works behind the host's back: it is waited for."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.engine.passes.pass_pipeline import optimize
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.run.feed_values import feed_arrays, infer_fed_types
from gradstep.core.engine.run.layout_choice import laid_out
from gradstep.core.engine.run.step_costs import LOOKS, measure
from gradstep.core.engine.run.variable_store import initial_store
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.gpu.cupy_backend import CupyBackend
from gradstep.gpu.emulated_systems import TF_ON_GPU
from tests.support.fake_cupy import FakeCupy


@pytest.mark.parametrize("fast", [False, True])
def test_the_device_is_waited_for_before_each_look_at_the_clock(fast: bool) -> None:
    cupy = FakeCupy()
    backend = CupyBackend(TF_ON_GPU, "gpu", "a card that does not exist", cupy)
    b = GraphBuilder()
    b.one("AssignAdd", b.variable("n", shape=(2,)), b.one("Exp", b.placeholder("x", shape=(2,))))
    graph = b.build()
    feeds = feed_arrays(graph, {"x": [0.0, 0.0]})
    plan = compile_plan(graph, [TensorRef("AssignAdd", 0)], (), infer_fed_types(feeds))
    store = initial_store(graph, backend, {"n": np.zeros(2, np.float32)})
    rewrite = (lambda p: optimize(p, backend)) if fast else None
    recording = laid_out(plan, backend, {}, store, rewrite)
    recording.feed(feeds)
    before = cupy.synchronised
    found = measure(recording, store, runs=2)
    calls = sum(cost.calls for cost in found.costs)
    assert calls
    # The clock alone, three whole runs (one to warm up), and two with a look after every call.
    assert cupy.synchronised - before == LOOKS + 1 + 3 * 2 + 2 * (1 + calls)
    np.testing.assert_array_equal(backend.get(store["n"]), [5, 5])
