"""A document whose every text is markup, opened in the real window: all is shown as it stands, and
no file that it names is opened. tests/test_plain_fence.py holds the sources to that."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html import unescape
from itertools import count, takewhile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QPoint, QPointF
from PySide6.QtGui import QEnterEvent, QHelpEvent, QImage, Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QLabel,
    QMenu,
    QTabBar,
    QToolTip,
    QWidget,
)
from shiboken6 import isValid

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override, OverrideKind
from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.document.document import CodeItem, CodeKind, Document, View
from gradstep.core.document.expectation import Expectation
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.gui.automation.driver import Driver
from gradstep.gui.canvas.interact import tooltips
from gradstep.gui.canvas.scene.hit_test import Hit, Port
from gradstep.gui.dialogs.code_view import CodeView
from gradstep.gui.document_picture import picture
from gradstep.gui.look.plain_text import Label, MessageBox, plain, without_mnemonic
from gradstep.gui.look.theme import DARK
from gradstep.gui.panels.widgets.markdown_text import MarkedText
from gradstep.gui.panels.widgets.small_labels import Text
from tests.support.openings import Openings

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")

MARK = "mark.png"
EVIL = f"<img src='file:{MARK}'><b>x</b> & <a href='y'>z</a>\u202e"
SOURCE = f"def f(x):\n    print({EVIL!r})\n    return x\n"
RAW = re.compile("<(img|b|a)[ >]|\u202e")


def named(name: str) -> str:
    return f"{EVIL}{name}"


def hostile() -> Document:
    """Names, types, attributes, feeds, scopes, code, words, expectations: all of them are EVIL."""
    x, py, w, y = named("x"), named("s/py"), named("s/w"), named("s/y")
    graph = Graph.of(
        [
            Operation(x, "Placeholder", attrs={"dtype": DType.FLOAT32, named("_note"): EVIL}),
            Operation(w, "VariableV2", attrs={"dtype": DType.FLOAT32}),
            Operation(
                py,
                "PyFunc",
                (TensorRef(x),),
                attrs={"token": EVIL, "Tin": (DType.FLOAT32,), "Tout": (DType.FLOAT32,)},
                device=EVIL,
            ),
            Operation(y, "Mul", (TensorRef(x), TensorRef(w)), (py,)),
            Operation(named("odd"), EVIL, (TensorRef(y), None)),
            Operation(named("bad"), "MatMul", (TensorRef(y), TensorRef(x)), attrs={"T": EVIL}),
        ]
    )
    return Document(
        graph=graph,
        request=GradientRequest(
            of=(TensorRef(y),),
            wrt=(TensorRef(w),),
            overrides=(Override(EVIL, y, OverrideKind.OP),),
        ),
        initial={w: Constant(1.0)},
        feeds={f"{x}:0": Constant(2.0), EVIL: Constant("text")},
        code={EVIL: CodeItem(EVIL, CodeKind.PYFUNC, SOURCE)},
        breakpoints=(Breakpoint(y), Breakpoint(x, condition=EVIL)),
        title=EVIL,
        note=f"# {EVIL}\n\n{EVIL} `{x}` ![]({MARK}) ![](file:{MARK})\n\n<img src='{MARK}'>\n",
        claim=EVIL,
        truth=EVIL,
        expectations=(Expectation(EVIL, f'x["{y}:0"]', value=Constant(2.0)),),
        view=View(collapsed=frozenset({f"{EVIL}s"})),
    )


@pytest.fixture
def openings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Openings]:
    image = QImage(8, 8, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.red)
    image.save(str(tmp_path / MARK))
    monkeypatch.chdir(tmp_path)
    found = Openings(tmp_path / MARK)
    yield found
    found.close()


def test_qt_would_open_the_file(openings: Openings, qapp: QApplication) -> None:
    """Or all the rest says nothing."""
    label = QLabel(EVIL)
    label.adjustSize()
    assert openings.any()
    for shown in (Label(EVIL), QLabel(plain(EVIL)), MessageBox(label, EVIL, EVIL, EVIL)):
        shown.adjustSize()
    assert not openings.any()


def test_what_is_plain_says_the_same() -> None:
    assert plain("a < b, c > d & e\nf") == "a < b, c > d & e\nf"
    assert not RAW.search(plain(EVIL))
    assert unescape(re.sub("<[^>]*>", "", plain(EVIL))) == EVIL.replace("\u202e", "\\u202e")
    assert without_mnemonic("a&b\u202e") == "a&&b\\u202e"


def indexes(model: QAbstractItemModel, parent: QModelIndex) -> Iterator[QModelIndex]:
    for row in range(min(model.rowCount(parent), 40)):
        columns = takewhile(lambda column, row=row: model.hasIndex(row, column, parent), count())
        yield from (model.index(row, column, parent) for column in columns)
        yield from indexes(model, model.index(row, 0, parent))


def canvas_tips(driver: Driver) -> Iterator[str]:
    """What Qt is given for each node, port and wire, as the mouse rests on them."""
    stage = driver.window.canvas.stage
    for box, shown in enumerate(stage.arrays.visible.boxes):
        yield tooltips.text(stage, Hit(box=box))
        for is_output, ports in ((True, shown.outputs), (False, shown.inputs)):
            for index in range(0 if shown.is_scope else ports):
                port = Port(box, index, is_output)
                yield tooltips.text(stage, Hit(port=port, box=box))
    for link in range(len(stage.arrays.visible.links)):
        yield tooltips.text(stage, Hit(link=link))


def texts_of(widget: QWidget) -> Iterator[str]:
    """All that Qt may take for markup: tips of a widget, its rows, tabs and actions."""
    if isinstance(widget, Text):
        at = QPointF(1, 1)
        widget.setMaximumWidth(20)  # it has a tip where it is cut
        widget.enterEvent(QEnterEvent(at, at, at))
    yield from (widget.toolTip(), widget.statusTip(), widget.whatsThis())
    yield from (action.toolTip() for action in widget.actions())
    if isinstance(widget, QTabBar):
        yield from (widget.tabToolTip(i) for i in range(widget.count()))
    if isinstance(widget, QAbstractItemView) and widget.model() is not None:
        role = Qt.ItemDataRole.ToolTipRole
        yield from (str(index.data(role) or "") for index in indexes(widget.model(), QModelIndex()))
    if isinstance(widget, QLabel) and not isinstance(widget, MarkedText):
        guessed = widget.textFormat() is not Qt.TextFormat.PlainText
        assert not (guessed and RAW.search(widget.text())), widget.text()
        assert not re.search("\u202e", widget.text())


def mnemonics(widget: QWidget) -> Iterator[str]:
    """What of a document became a mnemonic: nothing may."""
    shortcut = getattr(widget, "shortcut", None)
    if shortcut is not None and EVIL[:4] in widget.text() and not shortcut().isEmpty():
        yield widget.text()
    if isinstance(widget, QMenu):
        for action in widget.actions():
            if "img" in action.text() and re.search("(?<!&)&(?!&)", action.text()):
                yield action.text()


def walk(driver: Driver) -> set[str]:
    """Every text of every widget there is now."""
    found: set[str] = set()
    for menu in driver.window.findChildren(QMenu):
        menu.aboutToShow.emit()
    for widget in [w for top in QApplication.topLevelWidgets() for w in top.findChildren(QWidget)]:
        if not isValid(widget):
            continue
        found.update(texts_of(widget))
        assert not list(mnemonics(widget)), widget.objectName()
    return found


@pytest.mark.slow
def test_no_text_of_a_document_is_ever_rich_text(
    driver: Driver, openings: Openings, tmp_path: Path
) -> None:
    path = tmp_path / f"{EVIL.replace('/', '')}.gradstep"
    gradstep_file.save(path, hostile())
    window, found = driver.window, set[str]()
    driver.open(path)
    assert EVIL[:4] in window.windowTitle()
    assert "\u202e" not in window.windowTitle()
    found |= walk(driver)
    driver.workspace.trust()
    driver.settle()
    driver.key("F10")
    driver.key("F5")
    for dock in window.docks.by_id:
        window.docks.show(dock)
    for name in ("s/py", "s/y"):
        driver.workspace.select([named(name)])
        driver.settle()
        found |= walk(driver)
    canvas = window.canvas
    found |= {plain(text) for text in canvas_tips(driver)}
    middle = canvas.viewport().rect().center()
    for step in range(0, 400, 20):  # and through Qt itself
        at = middle - QPoint(200 - step, 0)
        event = QHelpEvent(QEvent.Type.ToolTip, at, canvas.viewport().mapToGlobal(at))
        canvas.viewportEvent(event)
        found.add(QToolTip.text())
    for view in ("trust", "trusted", "note", "request"):
        window.views.run(view, "")
    found |= walk(driver)
    driver.close_popups()
    evil = {text for text in found if "img" in text}
    assert len(evil) > 20  # it is all over the place
    for text in evil:
        assert not RAW.search(text), text
        QToolTip.showText(QPoint(), text, window)
        QApplication.processEvents()
    QToolTip.hideText()
    assert not openings.any()


def test_code_is_shown_in_the_order_in_which_it_runs(qapp: QApplication) -> None:
    """A comment that is turned around, and a line that ends where Python's does not."""
    source = "if user != 'me\u202e\u2066# admins\u2069\u2066':\r\n    pass\u2028import os\rdone\n"
    view = CodeView(DARK, source, "code")
    assert view.toPlainText() == (
        "if user != 'me\\u202e\\u2066# admins\\u2069\\u2066':\n    pass\\u2028import os\ndone\n"
    )


def test_a_picture_holds_names_as_text(openings: Openings, qapp: QApplication) -> None:
    document = hostile()
    bell = Operation("\x07]]><script>", "Placeholder", attrs={"dtype": DType.FLOAT32})
    graph = Graph.of([*document.graph, bell])
    drawing = ElementTree.fromstring(picture(document.with_(graph=graph), ".svg"))
    kinds = {element.tag.rpartition("}")[2] for element in drawing.iter()}
    assert "text" in kinds
    assert kinds.isdisjoint({"script", "a", "image", "foreignObject", "img"})
    assert not openings.any()
