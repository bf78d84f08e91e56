"""What if: variants of gradients side by side, drawn anew when a stop or an override changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import Qt

from gradstep.core.autodiff.reverse.gradient_request import Override, OverrideKind
from gradstep.core.graph.model import Edge
from gradstep.core.ops.declare import table
from gradstep.core.ops.declare.declared_gradient import UNDECLARED
from gradstep.core.protocol.messages import CompareVariants
from gradstep.gui import commands
from gradstep.gui.panels.gradients.gradients_panel import GradientsPanel
from gradstep.gui.panels.gradients.variant_model import COLUMNS

NATIVE, STANDS, OVERRIDES, STOPS, NUMERIC, STRAIGHT = range(1, len(COLUMNS) + 1)


@pytest.fixture
def what_if(bench: Any, show: Callable[..., Any], qtbot: Any) -> Callable[[str], GradientsPanel]:
    """The panel with its switch on, for an example."""

    def opened(name: str) -> GradientsPanel:
        bench.open(name)
        bench.space.trust()
        panel: GradientsPanel = show(GradientsPanel(bench.space))
        assert not asked(bench)  # before it is shown
        panel.what_if.setChecked(True)
        return panel

    return opened


def asked(bench: Any) -> list[int]:
    """How many elements were to be measured, of each question."""
    return [m.elements for m in bench.bridge.asked if isinstance(m, CompareVariants)]


def column(panel: GradientsPanel, number: int) -> list[str]:
    assert panel.variants is not None
    model = panel.variants.model
    return [model.cell(row, number).text for row in range(model.count())]


def click(panel: GradientsPanel, row: int, number: int, qtbot: Any) -> None:
    assert panel.variants is not None
    shown = panel.variants.table
    place = shown.visualRect(panel.variants.model.index(row, number)).center()
    qtbot.mouseClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_an_override_stands_out_and_a_click_goes_where_it_parts(
    bench: Any, what_if: Callable[[str], GradientsPanel], qtbot: Any
) -> None:
    panel = what_if("override_add")
    assert column(panel, 0) == ["c", "k"]
    assert column(panel, NATIVE) == column(panel, NUMERIC) == column(panel, STRAIGHT)
    assert column(panel, NATIVE) == ["1.14", "1.08"]
    assert column(panel, STANDS) == ["2.2", "1.94"]
    assert panel.variants is not None
    assert panel.variants.model.cell(0, STANDS).strong
    assert not panel.variants.model.cell(0, NUMERIC).strong
    assert "at e (PyFunc): gradient CustomAdd" in panel.variants.detail.text()
    click(panel, 1, STANDS, qtbot)
    assert bench.space.selection == ("e",)
    assert panel.variants.detail.text().startswith("d loss / d k, as it stands: [0.545, -1.863]")
    click(panel, 1, 0, qtbot)
    assert bench.space.selection == ("k",)


def test_toggles_redraw_at_once(
    bench: Any, what_if: Callable[[str], GradientsPanel], qtbot: Any
) -> None:
    panel = what_if("override_add")
    assert panel.variants is not None
    [box] = panel.variants.bends.boxes
    assert box.isChecked()
    qtbot.mouseClick(box, Qt.MouseButton.LeftButton)
    bench.space.debugger.flush()
    assert column(panel, STANDS) == column(panel, NATIVE)
    assert not panel.variants.bends.boxes[0].isChecked()
    commands.toggle_stop(bench.space, Edge("a", 1))
    bench.space.debugger.flush()
    assert column(panel, STANDS)[1] == "None"
    assert [each.text() for each in panel.variants.bends.boxes][1:] == ["stop e → a"]
    qtbot.mouseClick(panel.variants.bends.boxes[1], Qt.MouseButton.LeftButton)
    bench.space.debugger.flush()
    assert column(panel, STANDS) == column(panel, NATIVE)
    assert not panel.variants.bends.boxes[1].isChecked()  # and can be stopped again
    qtbot.mouseClick(panel.variants.bends.boxes[1], Qt.MouseButton.LeftButton)
    bench.space.debugger.flush()
    assert bench.space.document.request.stopped_edges == {Edge("a", 1)}


def test_overrides_and_stops_apart_only_where_there_are_both(
    bench: Any, what_if: Callable[[str], GradientsPanel]
) -> None:
    panel = what_if("override_add")
    assert panel.variants is not None
    hidden = panel.variants.table.isColumnHidden
    assert hidden(OVERRIDES)
    assert hidden(STOPS)
    commands.toggle_stop(bench.space, Edge("a", 1))
    bench.space.debugger.flush()
    assert not hidden(OVERRIDES)
    assert column(panel, OVERRIDES) == ["2.2", "1.94"]
    assert column(panel, STOPS)[1] == "None"


def test_it_asks_when_it_is_looked_at_and_once_a_run(
    bench: Any, what_if: Callable[[str], GradientsPanel]
) -> None:
    panel = what_if("tutorial")
    once = asked(bench)
    assert once == [0, 128]  # the numbers after all else
    bench.run("step", "step")
    assert asked(bench) == once
    bench.run("continue_", "step")
    assert asked(bench) == [*once, *once]
    panel.what_if.setChecked(False)
    bench.run("continue_", "step")
    assert len(asked(bench)) == 4
    assert panel.values.isVisibleTo(panel)


def test_numbers_can_be_left_out(bench: Any, what_if: Callable[[str], GradientsPanel]) -> None:
    panel = what_if("tutorial")
    assert panel.variants is not None
    panel.variants.numeric.setChecked(False)
    assert panel.variants.table.isColumnHidden(NUMERIC)
    assert asked(bench)[-1] == 0
    panel.variants.numeric.setChecked(True)
    assert column(panel, NUMERIC) == column(panel, NATIVE)


def test_what_rounds_parts_straight_through(
    bench: Any, what_if: Callable[[str], GradientsPanel], qtbot: Any
) -> None:
    panel = what_if("straight_through")
    assert panel.variants is not None
    row = column(panel, 0).index("plain/v")
    assert column(panel, NATIVE)[row] == "None"
    assert column(panel, STRAIGHT)[row] == "1.73"
    click(panel, row, STRAIGHT, qtbot)
    assert bench.space.selection == ("plain/floor",)


def test_a_variant_that_fails_is_said_beside_the_others(
    bench: Any, what_if: Callable[[str], GradientsPanel]
) -> None:
    panel = what_if("tutorial")
    assert panel.variants is not None
    commands.set_override(bench.space, Override("Nobody", "Mul"))
    bench.space.debugger.flush()
    assert column(panel, STANDS) == ["error"] * 2
    assert column(panel, STRAIGHT) == column(panel, NATIVE) == ["1.14", "1.08"]
    assert "'Nobody', which is not registered" in panel.variants.detail.text()
    commands.clear_override(bench.space, OverrideKind.TYPE, "Mul")
    bench.space.debugger.flush()
    assert column(panel, STANDS) == column(panel, NATIVE)


def test_why_nothing_can_be_compared_is_said(
    bench: Any, what_if: Callable[[str], GradientsPanel], monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = replace(table.lookup("Mul"), gradient=UNDECLARED)
    monkeypatch.setitem(table._TABLE, "Mul", bare)
    panel = what_if("tutorial")
    assert panel.variants is not None
    assert panel.variants.model.count() == 0
    assert "No gradient defined for operation 'a'" in panel.variants.detail.text()


def test_nothing_else_is_beside_it(bench: Any, what_if: Callable[[str], GradientsPanel]) -> None:
    """Neither after a stop that leaves a gradient None, nor while values come."""
    panel = what_if("tutorial")
    commands.toggle_stop(bench.space, Edge("a", 1))
    bench.space.debugger.flush()
    bench.run("continue_")
    bench.space.values_changed.emit()
    others = (panel.bad, panel.table, panel.values, panel.sentence)
    assert not any(part.isVisibleTo(panel) for part in others)
    panel.what_if.setChecked(False)
    assert panel.bad.isVisibleTo(panel)
    assert panel.sentence.isVisibleTo(panel)


def test_the_norm_of_some_elements_is_not_put_beside_that_of_all(
    bench: Any, what_if: Callable[[str], GradientsPanel]
) -> None:
    panel = what_if("cnn_digits")
    assert panel.variants is not None
    row = column(panel, 0).index("conv1/kernel")
    assert column(panel, NUMERIC)[row] == "✓"
    assert "21 of 54 elements" in panel.variants.model.cell(row, NUMERIC).tip
