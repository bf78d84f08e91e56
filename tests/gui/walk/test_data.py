"""Data by hand: a set chosen, a file that is wrong, rows looked at, digits trained batch by batch."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtWidgets import QWidget

from gradstep.gui import commands
from gradstep.gui.look import theme

pytestmark = pytest.mark.xvfb


def chosen(user, name: str) -> None:
    """Rows of a set or a file, as the panel's menu gives them."""
    commands.begin_data(user.workspace, name)
    known(user)


def known(user) -> None:
    data = user.workspace.data
    user.wait(lambda: not data.reading, "the source to be read")
    user.settle()


def test_scratch(user, examples, qapp) -> None:
    user.open(examples / "softmax_digits.gradstep")
    user.workspace.ask_window("show", "data")
    user.settle()
    user.take_picture("data-none")
    chosen(user, "digits")
    user.settle()
    user.take_picture("data-digits")
    user.type(user.find("data.validate"), "20%") if False else None
    commands.change_data(user.workspace, validate=0.2)
    user.settle()
    user.workspace.training.by_epochs = True
    user.key("Ctrl+F5")
    user.wait(lambda: not user.workspace.training.busy, "training")
    user.settle()
    user.take_picture("data-trained")
    user.workspace.ask_window("show", "data")
    user.settle()
    user.take_picture("data-after")
    user.workspace.set_theme(theme.LIGHT)
    theme.apply(qapp, theme.LIGHT)
    user.settle()
    user.take_picture("data-after-light")
    commands.feed_column(user.workspace, "images:0", "@digits:images | one_hot(3)")
    user.settle()
    user.take_picture("data-wrong-light")
