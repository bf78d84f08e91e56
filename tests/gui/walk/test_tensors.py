"""Tensors looked at: digits as pictures, a dead filter, the largest activation, a slice saved."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from gradstep.gui.panels.tensor import tensor_saving

pytestmark = pytest.mark.xvfb


def type_into(user, name: str, text: str) -> None:
    field = user.find(name)
    QTest.mouseDClick(field, Qt.MouseButton.LeftButton)
    field.selectAll()
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)
    user.settle()


def saved(user, path, monkeypatch) -> np.ndarray:
    monkeypatch.setattr(tensor_saving, "ask_save", lambda *_: path)
    user.click("tensor.save")
    user.wait(lambda: user.text("tensor.found").startswith(f"saved {path.name}"), "the file")
    return np.load(path)


def test_digits_are_seen_searched_and_saved(user, examples, tmp_path, monkeypatch) -> None:
    user.open(examples / "cnn_digits.gradstep")
    user.key("F5")
    user.select("images")
    user.show_tab("Tensor")
    picture = user.find("tensor.picture")
    images = user.workspace.document.feeds["images:0"].array
    assert picture.picture.values.shape[1:] == (8, 8)
    np.testing.assert_array_equal(picture.picture.values[3], images[3, :, :, 0])
    user.take_picture("tensor-digits")

    point = picture.cell_rect(3, 2, 4).center().toPoint()
    QTest.mouseDClick(picture, Qt.MouseButton.LeftButton, pos=QPoint(point))
    user.settle()
    assert user.find("tensor.elements").current == (3 * 64 + 2 * 8 + 4, 0), (
        "image 3, row 2, column 4"
    )

    user.workspace.select(["conv1/relu"])
    user.settle()
    relu = saved(user, tmp_path / "whole.npy", monkeypatch)
    type_into(user, "tensor.find", "max")
    where = [int(i) for i in np.unravel_index(relu.argmax(), relu.shape)]
    assert user.text("tensor.found") == f"1 of 1: {where}"
    user.take_picture("tensor-largest")

    type_into(user, "tensor.slice", "[0, ..., 4]")
    assert picture.picture.values.shape == (1, 8, 8)
    user.key("Up")
    assert user.find("tensor.slice").text() == "[1, ..., 4]", "Up steps the first index"
    np.testing.assert_array_equal(picture.picture.values[0], relu[1, :, :, 4])

    part = saved(user, tmp_path / "part.npy", monkeypatch)
    np.testing.assert_array_equal(part, relu[1, :, :, 4])
    user.click("tensor.copy")
    assert QGuiApplication.clipboard().text().startswith("array([[")
