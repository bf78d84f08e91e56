"""Data by hand: from a table to a trained classifier, and from a step of it to the rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtTest import QTest

from gradstep.core.io.open_document import read

pytestmark = pytest.mark.xvfb
MOST = 25  # gestures
LOSS = "sparse_softmax_cross_entropy_loss/weighted_loss/value"


def write_flowers(path: Path) -> None:
    """Three kinds that petals tell apart, as a spreadsheet saves them: sorted, kinds by name."""
    rng = np.random.default_rng(4)
    lines = ["petal length,petal width,species"]
    for kind, (length, width) in {"rose": (20, 4), "lily": (45, 14), "iris": (60, 22)}.items():
        rows = rng.normal((length, width), (2, 1.5), (30, 2))
        lines += [f"{a:.1f},{b:.1f},{kind}" for a, b in rows]
    path.write_text("\n".join(lines) + "\n")


class Counted:
    """A user whose gestures are counted: a click, a key, a word that is typed."""

    def __init__(self, user) -> None:
        self.user, self.gestures = user, 0

    def click(self, name: str) -> None:
        self.gestures += 1
        self.user.click(name)

    def tab(self, title: str) -> None:
        self.gestures += 1
        self.user.show_tab(title)

    def pick(self, *path: str) -> None:
        self.gestures += len(path)
        self.user.pick(*path)

    def menu(self, title: str, *path: str) -> None:
        self.gestures += 1 + len(path)
        self.user.menu(title, *path)

    def key(self, keys: str) -> None:
        self.gestures += 1
        self.user.key(keys)

    def select(self, *names: str) -> None:
        self.gestures += len(names)
        self.user.select(*names)

    def name_file(self, path: Path) -> None:
        self.gestures += 2  # the file, and Open
        self.user.name_file(path)

    def type_into(self, name: str, text: str) -> None:
        self.gestures += 2  # a click, and the word
        self.user.type_into(name, text)

    def find_block(self, name: str) -> None:
        """By Tab, its name, and Enter; its dialog opens."""
        self.gestures += 3
        self.user.point_at(self.user.canvas.viewport().rect().center())
        self.user.press("Tab")
        field = self.user.find("search_menu_field")
        QTest.keyClicks(field, name)
        QTest.keyClick(field, "\r")
        self.user.settle()


def test_from_a_table_to_a_trained_classifier(user, tmp_path) -> None:
    table = tmp_path / "flowers.csv"
    write_flowers(table)
    hand = Counted(user)
    hand.click("welcome.file.new")
    hand.tab("Data")
    hand.name_file(table)
    hand.click("data.choose")
    hand.pick("File…")
    space = user.workspace
    user.wait(lambda: space.document.data is not None, "the table")
    user.settle()
    assert set(space.document.columns) == {"x:0", "y:0"}
    hand.select("x")
    hand.find_block("dense")
    hand.click("block_dialog.apply")
    hand.select("dense/", "y")
    hand.find_block("sparse_softmax_cross_entropy_loss")
    hand.click("block_dialog.apply")
    hand.menu("Graph", "Differentiate…")
    hand.type_into("request_dialog.of", LOSS)
    hand.click("request_dialog.apply")
    hand.menu("Graph", "Gradient descent")
    hand.key("Ctrl+F5")
    user.wait(lambda: not space.training.busy, "training to end")
    user.settle()
    assert hand.gestures <= MOST
    check_flowers(user)
    look_at_rows(user, table)
    save_and_reopen(user, tmp_path / "net.gradstep", table)


def check_flowers(user) -> None:
    """Batch by batch the loss has fallen."""
    (curve,) = user.workspace.training.curves
    assert len(curve.points.numbers) == 200
    assert curve.points.numbers[-20:].mean() < curve.points.numbers[:3].mean() / 3
    assert curve.points.numbers[-20:].mean() < 0.3, "the right kind has most of the probability"
    assert user.workspace.stop.batch.startswith(batch_words(user))
    user.take_picture("data-flowers")


def batch_words(user) -> str:
    epoch, batch = divmod(user.workspace.stop.run, 3)
    return f"batch {batch + 1} of epoch {epoch + 1}, rows "


def look_at_rows(user, table: Path) -> None:
    """What the panel lists are lines of the table, and what the run was fed."""
    user.show_tab("Data")
    rows = user.table("data.rows")
    lines = table.read_text().splitlines()[1:]
    kinds = [lines[int(row[0])].rpartition(",")[2] for row in rows]
    assert [["iris", "lily", "rose"].index(kind) for kind in kinds] == user.value("y").tolist()
    assert batch_words(user) in user.text("data.fed")
    user.key("Shift+F10")  # back in the same run, which is fed the same
    assert user.table("data.rows") == rows


def save_and_reopen(user, path: Path, table: Path) -> None:
    """The file names the table beside it; a change of that is said, and read when asked for."""
    document = user.workspace.document
    user.name_file(path)
    user.key("Ctrl+S")
    assert read(path).columns == document.columns
    table.write_text("petal length,petal width,species\n1,2,rose\n3,4\n")
    user.workspace.data.look_again()
    user.settle()
    assert "flowers.csv has changed on disk" in user.text("data.fed")
    user.click("data.again")
    assert "row 3 has 2 cells, and row 1 has 3" in user.text("data.wrong")
    assert user.workspace.document.data == document.data
    user.take_picture("data-wrong")
    write_flowers(table)
    user.click("data.choose")
    user.pick("digits")
    user.key("Ctrl+Z")
    user.wait(lambda: not user.sees("data.wrong"), "the table to be read again")
