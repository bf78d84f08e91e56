"""Markdown in little room: long names are broken, and mean what they did."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtGui import QTextDocument

from gradstep.gui.look import theme
from gradstep.gui.panels.widgets.markdown_text import MarkedText
from gradstep.gui.panels.widgets.small_labels import BREAK

LONG = "softmax_cross_entropy_with_logits"


@pytest.mark.parametrize(
    "marked", [f"It is {LONG}.", f"`{LONG}`", f"`tf.nn.f({LONG})`", f"**{LONG}**"]
)
def test_no_name_is_wider_than_the_room(qapp: Any, marked: str) -> None:
    label = MarkedText(lambda: theme.DARK, "text", lambda name: name == LONG, narrow=True)
    label.say(marked)
    shown = QTextDocument()
    shown.setDocumentMargin(0)
    shown.setHtml(label.text())
    shown.setTextWidth(116)  # of a statement in a note 280 pixels wide
    assert shown.idealWidth() <= 116
    plain = shown.toPlainText().replace(BREAK, "")
    assert plain == marked.replace("`", "").replace("*", "")


def test_a_broken_name_still_leads_to_its_operation(qapp: Any) -> None:
    label = MarkedText(lambda: theme.DARK, "text", lambda name: name == LONG, narrow=True)
    label.say(f"Look at `{LONG}`.")
    assert f'href="{LONG}"' in label.text()
