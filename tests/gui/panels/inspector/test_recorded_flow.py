"""What PyTorch had of a node, beside what it is here; in a loop, in the iteration one stands in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradstep.core.document.document import Document
from gradstep.core.io.open_document import read
from gradstep.gui import commands
from gradstep.gui.panels.inspector.inspector_panel import InspectorPanel
from tests.traces.trace_archive import traces

TANH = "while_loop/cond/tanh/Tanh"


@pytest.fixture(scope="module")
def looped() -> Document:
    return read(traces() / "while_loop.gstrace")


def opened(bench: Any, show: Callable[..., Any], document: Document, name: str) -> Any:
    bench.space.open_document(document, None)
    bench.space.debugger.flush()
    bench.space.select([name])
    return show(InspectorPanel(bench.space), 328, 1400)


def shown(flow: Any) -> np.ndarray:
    return np.asarray(flow.tiles._table, np.float32)


def remarks(panel: Any) -> tuple[str, str]:
    flows = panel.recorded.value, panel.recorded.gradient
    return tuple(flow.header.remark.text() for flow in flows)  # type: ignore[return-value]


def test_outside_of_loops_there_is_one(
    bench: Any, show: Callable[..., Any], looped: Document
) -> None:
    panel = opened(bench, show, looped, "m/linear/BiasAdd")
    assert panel.recorded.isVisible()
    assert looped.recorded is not None
    wanted = looped.recorded.values["m/linear/BiasAdd:0"].array
    assert np.array_equal(shown(panel.recorded.value), wanted[: len(shown(panel.recorded.value))])
    assert remarks(panel) == ("torch 2.13.0+cpu", "")


def test_where_nothing_was_recorded_there_is_none(bench: Any, show: Callable[..., Any]) -> None:
    bench.open("tutorial")
    bench.space.select(["d"])
    assert not show(InspectorPanel(bench.space), 328, 900).recorded.isVisible()


@pytest.mark.slow
def test_in_a_loop_it_is_of_the_iteration_that_one_stands_in(
    bench: Any, show: Callable[..., Any], looped: Document
) -> None:
    panel = opened(bench, show, looped, TANH)
    while bench.space.stop.op != "while_loop/While":
        bench.run("step_into")
    bench.run("step_into")
    while bench.space.stop.inside[-1].iteration < 2:
        bench.run("step_into")
    panel.refresh()
    assert looped.recorded is not None
    kept = looped.recorded.iterations[f"{TANH}:0"]
    assert np.array_equal(shown(panel.recorded.value), kept.values.array[2])
    assert remarks(panel) == ("iteration 3 · torch 2.13.0+cpu", "iteration 3")


def test_behind_it_value_and_gradient_are_of_the_last(
    bench: Any, show: Callable[..., Any], qtbot: Any, looped: Document
) -> None:
    """As the values and gradients beside it are."""
    wait = qtbot.waitUntil
    panel = opened(bench, show, looped, TANH)
    bench.run("continue_")
    panel.refresh()
    assert looped.recorded is not None
    kept = looped.recorded.iterations[f"{TANH}:0"]
    assert kept.gradients is not None
    assert remarks(panel) == ("iteration 4 · torch 2.13.0+cpu", "iteration 4")
    for ref in (bench.space.value, bench.space.gradient):
        wait(lambda ref=ref: getattr(ref(f"{TANH}:0"), "state", "") == "known")
    panel.refresh()
    value, gradient = (shown(flow) for flow in (panel.value, panel.gradient))
    assert np.allclose(value, shown(panel.recorded.value), atol=1e-6)
    assert np.allclose(gradient, shown(panel.recorded.gradient), atol=1e-6)
    assert np.array_equal(shown(panel.recorded.gradient), kept.gradients.array[3])


def test_it_is_of_the_iteration_that_was_chosen(
    bench: Any, show: Callable[..., Any], qtbot: Any, looped: Document
) -> None:
    panel = opened(bench, show, looped, TANH)
    bench.run("continue_")
    for number in (1, 0):
        commands.choose_iteration(bench.space, "while_loop/While", number)
        assert bench.space.stop.loops[0].iteration == number
        ref = f"{TANH}:0"
        for ask in (bench.space.value, bench.space.gradient):
            qtbot.waitUntil(lambda ask=ask, ref=ref: getattr(ask(ref), "state", "") == "known")
        panel.refresh()
        words = f"iteration {number + 1}"
        assert remarks(panel) == (f"{words} · torch 2.13.0+cpu", words)
        assert panel.value.header.remark.text().endswith(f" · {words} of 4")
        for here, there in (
            (panel.value, panel.recorded.value),
            (panel.gradient, panel.recorded.gradient),
        ):
            assert np.allclose(shown(here), shown(there), atol=1e-6)


@pytest.mark.slow
def test_on_the_way_back_the_gradient_is_of_the_iteration_gone_back_through(
    bench: Any, show: Callable[..., Any], looped: Document
) -> None:
    panel = opened(bench, show, looped, TANH)
    back = "gradients/while_loop/While_grad/While"
    while bench.space.stop.op != back:
        bench.run("step_into" if bench.space.stop.op != "while_loop/While" else "step")
    bench.run("step_into")
    while bench.space.stop.inside[-1].iteration < 1:
        bench.run("step_into")
    panel.refresh()
    assert remarks(panel)[1] == "iteration 3"
