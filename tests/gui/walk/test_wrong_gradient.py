"""A wrong gradient in a network that TensorFlow saved: found, made small, written as a script."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication

from gradstep.core.io.open_document import read
from gradstep.gui.frame.main_window import MainWindow
from tests.support.deleting import end

pytestmark = pytest.mark.xvfb
DATA = Path(__file__).parents[2] / "data" / "saved_models"
RULE = "softplus_grad"  # with what TensorFlow puts behind it


def open_network(user, folder: Path) -> None:
    with zipfile.ZipFile(DATA / "wrong_gradient.zip") as archive:
        archive.extractall(folder)
    user.open(folder / "network.ckpt.meta")
    user.window.docks.by_id["note"].close()


def differentiate(user) -> None:
    """The loss by all that is trained, which the dialog offers."""
    user.menu("Graph", "Differentiate…")
    user.type_into("request_dialog.of", "loss")
    user.click("request_dialog.apply")
    assert [ref.short for ref in user.workspace.document.request.wrt] == ["hidden_w", "output_w"]


def go_to_the_wrong_rule(user) -> str:
    """By a check of all gradients, and the link to the one operation whose rule is wrong."""
    user.show_tab("Gradients")
    user.click("gradients.check")
    user.wait(lambda: user.workspace.table is not None, "the check")
    user.settle()
    (node,) = [each.node for each in user.workspace.table.nodes if not each.agrees]
    user.take_picture("wrong-gradient-checked")
    user.click(f"gradients.node.{node}")
    user.show_tab("Inspector")
    assert user.workspace.selection == (node,)
    assert f"What '{RULE}" in user.text("inspector.card.text")
    user.take_picture("wrong-gradient-named")
    return node


def write_smallest(user, path: Path) -> None:
    user.name_file(path)
    user.click("inspector.card.smallest")
    user.wait(path.exists, f"{path.name} to be written")
    user.settle()


def test_the_rule_is_named_made_small_and_written_for_tensorflow(user, tmp_path) -> None:
    open_network(user, tmp_path)
    assert "does not run until you trust it" in user.text("banner.restricted.text")
    user.click("banner.restricted.review")
    user.click("trust_dialog.full")
    differentiate(user)
    user.key("F5")
    node = go_to_the_wrong_rule(user)

    script = tmp_path / "small.py"
    write_smallest(user, script)
    text = script.read_text(encoding="utf-8")
    compile(text, str(script), "exec")
    assert f"'IdentityN': '{RULE}" in text
    assert "by differences, hidden/product" in text

    small = tmp_path / "small.gradstep"
    write_smallest(user, small)
    document = read(small)
    assert len(document.graph) <= 10
    assert node in document.graph
    others = [w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow)]
    (beside,) = [window for window in others if window is not user.window]
    user.wait(lambda: len(beside.workspace.document.graph) > 0, "the window beside")
    assert beside.workspace.document.title.startswith("The smallest that shows: softplus_grad")
    user.wait(lambda: beside.workspace.is_idle, "the window beside to rest")
    beside.grab().save(str(tmp_path / "beside.png"))
    end(beside)


def test_the_native_gradient_is_one_click_away(user, tmp_path) -> None:
    """What the card offers is held to finite differences, too."""
    open_network(user, tmp_path)
    user.click("banner.restricted.review")
    user.click("trust_dialog.full")
    differentiate(user)
    user.key("F5")
    wrong = user.gradient("hidden_w")
    node = go_to_the_wrong_rule(user)
    user.click("inspector.card.native")
    user.key("F5")
    user.key("Ctrl+K")
    user.wait(lambda: user.workspace.table is not None, "the check")
    user.settle()
    assert all(each.agrees for each in user.workspace.table.nodes if each.node != node)
    assert not np.allclose(user.gradient("hidden_w"), wrong)
