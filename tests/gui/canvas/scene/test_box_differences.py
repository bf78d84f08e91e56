"""Colour by difference on the canvas: what a comparison found, node by node, and gone after it."""

from __future__ import annotations

from typing import Any

import pytest

from gradstep.core.protocol.messages import ComparedNode, Comparison, SideResult
from gradstep.gui.actions import action_table
from gradstep.gui.look import theme

OK, RAISED = SideResult(status="ok"), SideResult(status="raised", text="no")


def row(name: str, verdict: str = "equal", right: SideResult = OK, **more: Any) -> ComparedNode:
    return ComparedNode(
        name=name, type="Neg", phase="forward", verdict=verdict, left=OK, right=right, **more
    )


def compared(canvas: Any, *rows: ComparedNode) -> None:
    debugger = canvas.space.debugger
    debugger.comparisons = [
        Comparison(left="cpu", right="emulate:jax", measured=False, source="", nodes=list(rows))
    ]
    debugger.compared.emit()


@pytest.fixture
def coloured(canvas: Any) -> Any:
    canvas.open("tutorial")
    canvas.space.profiler.colour_by("difference")
    return canvas


def heat(canvas: Any, name: str) -> float:
    return float(canvas.view.stage.facts.shares.values[canvas.number(name)])


def said(canvas: Any, name: str) -> str:
    return canvas.view.stage.facts.shares.text(canvas.number(name))


def test_each_node_is_as_hot_as_it_differs(coloured: Any) -> None:
    rows = (
        row("c"),
        row("k", "close", metrics={"rel_l2": 1e-6}),
        row("e", "differs", differs=True, metrics={"rel_l2": 1e-2}),
        row("a", "raises", RAISED, differs=True),
        row("loss", "raises", RAISED),  # on both alike
    )
    compared(coloured, *rows)
    assert heat(coloured, "c") == heat(coloured, "loss") == heat(coloured, "data") == 0
    assert heat(coloured, "k") == pytest.approx(0.25)
    assert heat(coloured, "e") == pytest.approx(0.75)
    assert heat(coloured, "a") == 1
    tip = coloured.view.stage.facts.shares.said
    assert tip(coloured.number("e")) == "differs by 1.0e-02 of its size"
    assert (tip(coloured.number("a")), tip(coloured.number("c"))) == ("differs", "")
    assert [said(coloured, name) for name in ("c", "k", "e", "a")] == [
        "",
        "1.0e-06",
        "1.0e-02",
        "≠",
    ]


def test_the_legend_says_what_it_was_compared_with(coloured: Any) -> None:
    legend = coloured.view.legend
    assert (legend.title(), legend.remark()) == ("Difference (relative)", "not compared yet")
    compared(coloured, row("e", "differs", differs=True, metrics={"rel_l2": 1e-2}))
    assert legend.remark() == "jax"
    assert legend.isVisible()


def test_the_action_compares_where_that_was_not_done(
    canvas: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    canvas.open("tutorial")
    asked: list[list[str]] = []
    compare = lambda against, go_on, files: asked.append(against)  # noqa: E731
    monkeypatch.setattr(canvas.space.debugger, "compare", compare)
    assert action_table.run("view.colour_difference", canvas.space)
    assert len(asked) == 1
    action_table.run("view.colour_difference", canvas.space)
    compared(canvas, row("e", "differs", differs=True, metrics={"rel_l2": 1e-2}))
    assert canvas.view.stage.facts.shares is None
    action_table.run("view.colour_difference", canvas.space)
    assert heat(canvas, "e") > 0
    assert len(asked) == 1


def test_it_is_painted(coloured: Any) -> None:
    before = coloured.view.grab().toImage()
    compared(coloured, row("e", "differs", differs=True, metrics={"rel_l2": 1.0}))
    coloured.view.viewport().repaint()
    assert coloured.view.grab().toImage() != before
    coloured.space.set_theme(theme.LIGHT)
    coloured.view.grab()
