"""The local Jacobian in the Inspector: asked for by a link, wrong entries told, gone elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from gradstep.core.protocol.vocabulary import VERDICTS
from gradstep.gui.panels.inspector.inspector_panel import InspectorPanel
from gradstep.gui.panels.inspector.matrix_view import MatrixView

LEFT = Qt.MouseButton.LeftButton
WRONG = VERDICTS.index("wrong")


@pytest.fixture
def panel(bench: Any, show: Callable[..., Any]) -> Any:
    bench.open("override_add")
    bench.space.select(["e"])
    shown = show(InspectorPanel(bench.space), 340, 1600)
    bench.run("continue_")
    shown.refresh()
    return shown


def ask(panel: Any, qtbot: Any) -> None:
    panel.jacobian.link.clicked.emit()
    qtbot.waitUntil(lambda: bool(panel.jacobian.views))


def test_it_is_shown_for_who_asks(panel: Any, qtbot: Any) -> None:
    found = panel.jacobian
    assert found.isVisible()
    assert not found.views
    ask(panel, qtbot)
    assert not found.link.isVisible()
    assert found.header.remark.text() == "CustomAdd"
    assert found.text.text().startswith("The rule 'CustomAdd' is wrong here: 6 of 12 entries")
    view = found.views[0]
    assert view.accessibleName() == "∂e/∂c"
    assert view.accessibleDescription() == "2 by 2 entries, 2 wrong"
    assert view.words(0, 0).startswith("∂e[0]/∂c[0] = 1.16967")
    assert view.words(0, 0).endswith("measured 1: the rule is wrong here")
    assert view.words(0, 1) == "∂e[0]/∂c[1] = 0, measured 0"


def test_it_is_gone_where_something_else_is_looked_at(bench: Any, panel: Any, qtbot: Any) -> None:
    ask(panel, qtbot)
    panel.refresh()
    assert panel.jacobian.views, "looking again changes nothing"
    bench.space.select(["a"])
    panel.refresh()
    assert not panel.jacobian.views
    assert panel.jacobian.link.isVisible()
    ask(panel, qtbot)
    assert panel.jacobian.text.text().startswith("All 8 entries")
    bench.run("step_back")
    panel.refresh()
    assert not panel.jacobian.views


def test_what_is_not_computed_yet_is_said(bench: Any, panel: Any, qtbot: Any) -> None:
    bench.run("restart")
    panel.refresh()
    panel.jacobian.link.clicked.emit()
    qtbot.waitUntil(lambda: "run to e first" in panel.jacobian.text.text())
    assert panel.jacobian.link.isVisible(), "to be asked again"


def matrix(bench: Any, show: Callable[..., Any], rule: np.ndarray, wrong: bool = False) -> Any:
    view = MatrixView(lambda: bench.space.theme, "matrix")
    verdicts = np.zeros(rule.shape, np.int8)
    if wrong:
        verdicts[-1, -1] = WRONG
    parts = {"rule": rule, "numeric": rule, "verdicts": verdicts}
    view.show_matrix(parts, ("y", "x"), ((rule.shape[0],), (rule.shape[1],)))
    return show(view, 300, 300)


def test_a_large_one_is_a_picture_in_which_wrong_entries_are_seen(
    bench: Any, show: Callable[..., Any]
) -> None:
    view = matrix(bench, show, np.eye(200), wrong=True)
    image = view.grab().toImage()
    ratio = view.devicePixelRatioF()
    width, height = int(300 * ratio) - 1, int(view.height() * ratio) - 1
    assert image.pixelColor(width, height).name() == bench.space.theme.problem.name()
    assert image.pixelColor(width // 2, height // 4).name() == bench.space.theme.hover.name()
    assert view.cell_at(QPoint(299, view.height() - 1)) == (199, 199)
    assert view.cell_at(QPoint(0, 0)) == (0, 0)


def test_a_matrix_without_entries_paints_nothing_and_says_so(
    bench: Any, show: Callable[..., Any]
) -> None:
    view = matrix(bench, show, np.zeros((0, 3)))
    assert view.cell_at(QPoint(1, 1)) is None
    assert view.accessibleDescription() == "0 by 3 entries"
    view.grab()


def test_infinities_are_problems(bench: Any, show: Callable[..., Any]) -> None:
    view = matrix(bench, show, np.array([[np.inf, 1.0], [np.nan, 0.0]]))
    image = view.grab().toImage()
    assert image.pixelColor(5, 3).name() == bench.space.theme.problem.name()
    QTest.mouseMove(view, QPoint(5, 3))
