"""What the document's Python prints is seen, also by a panel that is opened later."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradstep.core.document import document_edits
from gradstep.core.document.document import CodeItem, CodeKind
from gradstep.core.io.open_document import read
from gradstep.gui.automation.driver import Driver
from gradstep.gui.panels.output_panel import OutputPanel

EXAMPLES = Path(__file__).parents[3] / "assets" / "examples"
PRINTS = 'def forward(c, k, d):\n    print("d is", d)\n    return c + k\n'


@pytest.mark.slow
def test_printed_text_appears_and_goes_with_its_document(driver: Driver) -> None:
    document = read(EXAMPLES / "override_add.gradstep")
    item = CodeItem("custom_add", CodeKind.PYFUNC, PRINTS)
    driver.workspace.open_document(document_edits.set_code(document, item))
    driver.workspace.trust()
    driver.settle()
    driver.key("F5")
    panel = driver.window.docks.by_id["output"].panel
    assert isinstance(panel, OutputPanel)
    assert panel.text.toPlainText().startswith("d is [1.06 1.96]\n")
    driver.open(EXAMPLES / "tutorial.gradstep")
    assert "prints appears here" in panel.empty_text
