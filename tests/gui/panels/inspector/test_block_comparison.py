"""Equal blocks in the inspector: their norms, the block where NaN begins, and the way to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gradstep.core.document.document import Document
from gradstep.core.graph.model import TensorRef
from gradstep.gui import commands
from gradstep.gui.panels.inspector.block_comparison import (
    GRADIENT,
    NAME,
    VALUE,
    WEIGHT_GRADIENTS,
    WEIGHTS,
    BlockComparison,
    short_name,
)
from gradstep.gui.panels.inspector.inspector_panel import InspectorPanel
from gradstep.gui.panels.widgets.table_cells import Cell
from tests.support.block_documents import decoder

pytestmark = pytest.mark.slow

BLOCKS = 6


@pytest.fixture(scope="module")
def fine() -> Document:
    return decoder(BLOCKS)


@pytest.fixture(scope="module")
def broken() -> Document:
    """The gradient of block 3 is NaN, and so is all that comes after it on its way back."""
    return decoder(BLOCKS, broken=3)


@pytest.fixture
def opened(bench: Any, show: Callable[..., Any]) -> Callable[[Document], BlockComparison]:
    """The inspector's table, with the stack of all blocks selected."""

    def open_document(document: Document) -> BlockComparison:
        bench.space.open_document(document)
        bench.space.debugger.flush()
        panel = show(InspectorPanel(bench.space))
        select(bench, *range(BLOCKS))
        panel.refresh()
        found: BlockComparison = panel.blocks
        return found

    return open_document


def select(bench: Any, *blocks: int) -> None:
    prefixes = tuple(f"h/{block}/" for block in blocks)
    names = bench.space.shown.operations
    bench.space.select([name for name in names if name.startswith(prefixes)])


def run(bench: Any, blocks: BlockComparison, qtbot: Any) -> None:
    """To the end of the run, until all that the table asks for has come."""
    bench.run("continue_")

    def told() -> bool:
        return all("–" not in texts(blocks, number) for number in range(5))

    qtbot.waitUntil(told, timeout=20_000)


def column(blocks: BlockComparison, number: int) -> list[Cell]:
    return [blocks.model.cell(row, number) for row in range(blocks.model.count())]


def texts(blocks: BlockComparison, number: int) -> list[str]:
    return [cell.text for cell in column(blocks, number)]


def norm(*arrays: np.ndarray) -> str:
    return f"{np.sqrt(sum(np.square(a.astype(np.float64)).sum() for a in arrays)):.3g}"


def test_a_row_for_each_block(bench: Any, opened: Any, fine: Document, qtbot: Any) -> None:
    blocks = opened(fine)
    assert blocks.isVisible()
    assert blocks.header.title.text() == "6 equal blocks"
    assert blocks.header.remark.text() == "47 operations each"
    assert texts(blocks, NAME) == [f"h/{i}" for i in range(BLOCKS)]
    assert texts(blocks, VALUE) == ["–"] * BLOCKS, "nothing is computed yet"
    run(bench, blocks, qtbot)
    session = bench.bridge.service._session
    for row in range(BLOCKS):
        weights = [n for n in fine.initial if n.startswith(f"h/{row}/")]
        assert len(weights) == 9
        frame = session.frame()
        read = lambda name: np.asarray(frame.value(TensorRef.parse(name)))  # noqa: E731, B023
        result = f"h/{row}/AddV2_1:0"
        held = bench.space.program.gradients
        assert blocks.model.cell(row, VALUE).text == norm(read(result))
        assert blocks.model.cell(row, GRADIENT).text == norm(read(held[result]))
        every = [f"{name}:0" for name in weights]
        assert blocks.model.cell(row, WEIGHTS).text == norm(*map(read, every))
        gradients = [read(held[name]) for name in every]
        assert blocks.model.cell(row, WEIGHT_GRADIENTS).text == norm(*gradients)
    assert {cell.tone for cell in column(blocks, VALUE)} == {"forward"}
    assert {cell.tone for cell in column(blocks, GRADIENT)} == {"backward"}


def test_where_nan_begins(bench: Any, opened: Any, broken: Document, qtbot: Any) -> None:
    blocks = opened(broken)
    run(bench, blocks, qtbot)
    assert [cell.tone for cell in column(blocks, VALUE)] == ["forward"] * BLOCKS
    gradients = column(blocks, GRADIENT)
    assert [cell.tone for cell in gradients] == ["problem"] * 3 + ["backward"] * 3
    assert [cell.text for cell in gradients[:3]] == ["NaN"] * 3
    assert gradients[2].tip == "h/2/AddV2_1:0: 48 NaN"
    assert [c.tone for c in column(blocks, WEIGHT_GRADIENTS)] == ["problem"] * 4 + ["backward"] * 2


def test_a_click_opens_that_block_and_the_table_stays(
    bench: Any, opened: Any, fine: Document
) -> None:
    blocks = opened(fine)
    place = blocks.table.visualRect(blocks.model.index(3, VALUE)).center()
    QTest.mouseClick(blocks.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert "h/3" not in bench.space.document.view.collapsed
    assert {name[:4] for name in bench.space.selection} == {"h/3/"}
    assert bench.views[-1] == ("reveal", "h/3")
    bench.space.values_changed.emit()
    blocks.window().refresh()
    assert texts(blocks, NAME) == [f"h/{i}" for i in range(BLOCKS)], "to be compared further"
    assert blocks.table.currentIndex().row() == 3
    blocks.table.setFocus()
    QTest.keyClick(blocks.table, Qt.Key.Key_Down)
    assert "h/4" in bench.space.document.view.collapsed, "an arrow opens nothing"
    QTest.keyClick(blocks.table, Qt.Key.Key_Return)
    assert "h/4" not in bench.space.document.view.collapsed
    assert {name[:4] for name in bench.space.selection} == {"h/4/"}


def test_other_selections_are_not_compared(bench: Any, opened: Any, fine: Document) -> None:
    blocks = opened(fine)
    panel = blocks.window()
    for chosen in ((0, 1), (0, 1, 2, 3, 4)):
        select(bench, *chosen)
        panel.refresh()
        assert "nodes are selected" in panel.empty_text
    select(bench, 2)
    panel.refresh()
    assert blocks.isVisible()
    assert blocks.table.currentIndex().row() == 2
    select(bench, *range(BLOCKS))
    panel.refresh()
    assert not blocks.table.selectionModel().hasSelection()
    bench.space.select(["h/2/AddV2"])
    panel.refresh()
    assert not blocks.isVisible()
    assert panel.facts.isVisible()
    bench.space.select([*fine.graph.operations][:5])
    panel.refresh()
    assert panel.empty_text


def test_an_edit_of_one_block_leaves_it_out(bench: Any, opened: Any, fine: Document) -> None:
    blocks = opened(fine)
    commands.set_attr(bench.space, "h/1/attn/scores", "transpose_a", True)
    select(bench, 2, 3, 4, 5)
    blocks.window().refresh()
    assert texts(blocks, NAME) == ["h/2", "h/3", "h/4", "h/5"]


def test_only_rows_in_view_are_asked_for(bench: Any, show: Any) -> None:
    """Of fifty blocks no more than there is room for."""
    bench.space.open_document(decoder(50))
    bench.space.debugger.flush()
    panel = show(InspectorPanel(bench.space), height=320)
    bench.bridge.asked.clear()
    names = bench.space.shown.operations
    bench.space.select([name for name in names if name.startswith("h/")])
    panel.refresh()
    panel.repaint()
    panel.blocks.table.viewport().repaint()
    looked_at = bench.space.debugger._values._looked_at
    assert "h/0/AddV2_1:0" in looked_at
    assert "h/40/AddV2_1:0" not in looked_at


@pytest.mark.parametrize(
    ("scope", "name"),
    [("model/transformer/h/11", "h/11"), ("net/layer_3", "layer_3"), ("7", "7"), ("h/2", "h/2")],
)
def test_names_that_tell_blocks_apart(scope: str, name: str) -> None:
    assert short_name(scope) == name
