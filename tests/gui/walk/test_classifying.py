"""Classifiers by hand: digits from a folder of pictures, and two spirals whose surface is drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtWidgets import QWidget

from gradstep.core.data.built_in_sets import SETS

pytestmark = pytest.mark.xvfb
COUNT = 120


def write_digits(folder: Path) -> None:
    """As somebody has them who cut them out: 0.png, 1.png, …, and a table of what they are."""
    (folder / "digits").mkdir()
    digits = SETS["digits"].parts
    for number, image in enumerate(digits["images"][:COUNT]):
        Image.fromarray((image * 15).astype(np.uint8)).save(folder / "digits" / f"{number}.png")
    lines = ["digit", *map(str, digits["labels"][:COUNT])]
    (folder / "labels.csv").write_text("\n".join(lines) + "\n")


def trained(user) -> None:
    user.wait(lambda: not user.workspace.training.busy, "training to end")
    user.settle()


def right(user) -> float:
    """The share that Classes says, in %."""
    said = user.window.findChild(QWidget, "classes.said")
    user.wait(lambda: "% right" in said.text(), "the classes to be counted")
    return float(said.text().partition("%")[0])


def test_digits_from_a_folder_of_pictures(user, examples, tmp_path) -> None:
    write_digits(tmp_path)
    user.open(examples / "softmax_digits.gradstep")
    user.show_tab("Data")
    user.type_into("data.column.images", f"@{tmp_path}/digits/*.png | scale(1/240)")
    user.type_into("data.column.labels", f"@{tmp_path}/labels.csv:digit | one_hot(10)")
    user.type_into("data.validate", "20 %")
    user.wait(lambda: user.workspace.program.data.rows == 96, "the pictures")
    user.settle()
    assert user.text("data.said").startswith("*.png, labels.csv: 96 rows, 24 held back")
    digits = SETS["digits"].parts
    batch = user.workspace.data.batch
    first = " ".join(f"{x:.4g}" for x in digits["images"][batch.rows[0]].ravel()[:10] / 16)
    assert batch.columns[0].cells[0] == f"{first} …"
    user.key("Ctrl+F5")
    trained(user)
    user.show_tab("Classes")
    assert right(user) > 70
    user.take_picture("digits-from-pictures")
    Image.new("L", (8, 8), 255).save(tmp_path / "digits" / "3.png")
    user.show_tab("Data")
    user.key("F10")
    assert "has changed on disk" in user.text("data.fed")
    user.take_picture("digits-changed")


def test_spirals_are_parted_while_one_looks(user, examples) -> None:
    user.open(examples / "two_spirals.gradstep")
    user.show_tab("Classes")
    before = right(user)
    surfaces: list[object] = []
    user.workspace.bridge.event_received.connect(
        lambda event: surfaces.append(event) if type(event).__name__ == "SurfaceDrawn" else None
    )
    user.key("Ctrl+F5")
    trained(user)
    assert surfaces, "it is drawn while it is trained"
    user.wait(lambda: right(user) > 95 > before, "the spirals to be parted")
    user.take_picture("spirals")
