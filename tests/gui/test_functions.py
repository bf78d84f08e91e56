"""Writing the Python that a graph names, in the window."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtWidgets import QMenu

from gradstep.core.document.document import CodeKind
from gradstep.core.graph.edits import set_attr
from gradstep.gui import commands
from gradstep.gui.automation.driver import Driver
from gradstep.gui.dialogs.code_dialog import CodeDialog
from gradstep.gui.dialogs.finder import Finder
from gradstep.gui.panels.inspector.gradient_menu import fill_gradient_menu
from gradstep.gui.panels.widgets.small_labels import Link
from tests.support import article
from tests.support import gradient_facts as facts

ADD, GRADIENT = (f"{part.rstrip()}\n" for part in article.FUNCTIONS.split("\n\n\n"))


def opened(driver: Driver, folder: Path, name: str) -> Driver:
    """A window on a graph of the article's, fed."""
    path = folder / f"{name}.pb"
    path.write_bytes(facts.graph_bytes(name))
    driver.open(path)
    commands.set_feed(driver.workspace, "data:0", np.array([1, 2], np.float32))
    commands.set_feed(driver.workspace, "labels:0", np.array([0, 1], np.float32))
    driver.workspace.select(["e"])
    driver.settle()
    return driver


def editor(driver: Driver) -> CodeDialog:
    [dialog] = [d for d in driver.window.findChildren(CodeDialog) if d.isVisible()]
    return dialog


def write(driver: Driver, source: str) -> None:
    dialog = editor(driver)
    dialog.code.setPlainText(source)
    dialog.finish()
    driver.settle()


def gradients(driver: Driver) -> list[Any]:
    driver.key("F5")
    found = [driver.workspace.gradient(name) for name in ("c", "k")]
    driver.settle()
    found = [driver.workspace.gradient(name) for name in ("c", "k")]
    return [None if value is None else value.head for value in found]


@pytest.mark.slow
def test_the_articles_program_is_completed_in_the_window(driver: Driver, tmp_path: Path) -> None:
    """Opened, its functions written from the inspector's links, differentiated, run."""
    space = opened(driver, tmp_path, "article_forward").workspace
    driver.click("inspector.token")
    dialog = editor(driver)
    assert (dialog.name.text(), dialog.name.isReadOnly()) == ("pyfunc_0", True)
    assert dialog.code.toPlainText().startswith("def pyfunc_0(c, k, d):\n    # computes e (PyFunc)")
    write(driver, ADD)
    assert space.document.code["pyfunc_0"].kind is CodeKind.PYFUNC
    driver.click("inspector.code.write")
    assert editor(driver).name.text() == "CustomAdd"
    assert "def CustomAdd(op, grad):" in editor(driver).code.toPlainText()
    write(driver, GRADIENT)
    assert space.document.code["CustomAdd"].kind is CodeKind.GRADIENT
    assert space.trusted
    commands.set_request(space, ["loss"], ["c", "k"])
    driver.settle()
    assert space.program.problems == []
    by_c, by_k = gradients(driver)
    np.testing.assert_allclose(by_c, article.BY_C, rtol=1e-6)
    np.testing.assert_allclose(by_k, article.BY_K, rtol=1e-6)
    loss = space.value("loss")
    np.testing.assert_allclose(loss.head, article.LOSS, rtol=1e-7)


@pytest.mark.slow
def test_its_training_graph_lacks_the_function_only(driver: Driver, tmp_path: Path) -> None:
    space = opened(driver, tmp_path, "article").workspace
    [problem] = space.program.problems
    assert problem.message == "it calls the Python function 'pyfunc_0', which is not here"
    driver.window.actions_.run("graph.code")
    write(driver, ADD)
    assert space.program.problems == []
    by_c, by_k = gradients(driver)
    np.testing.assert_allclose(by_c, article.BY_C, rtol=1e-6)
    np.testing.assert_allclose(by_k, article.BY_K, rtol=1e-6)


@pytest.mark.slow
def test_a_step_that_fails_without_it_has_a_link(driver: Driver, tmp_path: Path) -> None:
    space = opened(driver, tmp_path, "article").workspace
    driver.key("F5")
    assert space.stop.error is not None
    assert space.stop.error.node == "e"
    driver.click("inspector.error.write")
    assert editor(driver).name.text() == "pyfunc_0"
    write(driver, ADD)
    assert gradients(driver)[0] is not None


@pytest.mark.slow
def test_edit_python_offers_what_is_missing(driver: Driver, tmp_path: Path) -> None:
    space = opened(driver, tmp_path, "article_forward").workspace
    space.select(["d"])
    actions = driver.window.actions_
    actions.refresh()
    assert actions["graph.code"].isEnabled()
    actions.run("graph.code")
    [finder] = [f for f in driver.window.findChildren(Finder) if f.isVisible()]
    texts = [finder.list.item(row).text() for row in range(finder.list.count())]
    assert texts == ["pyfunc_0", "CustomAdd"]
    driver.close_popups()
    space.open_document(facts.document("adam_ref"))
    actions.refresh()
    assert not actions["graph.code"].isEnabled()


@pytest.mark.slow
def test_the_gradient_menu_and_numpy(driver: Driver, tmp_path: Path) -> None:
    """A gradient may be written for arrays as well; the template is the one for that."""
    space = opened(driver, tmp_path, "article_forward").workspace
    driver.click("inspector.gradient")
    [link] = driver.window.findChildren(Link, "inspector.gradient")
    assert link.text() == "CustomAdd (override) ▾"
    menu = QMenu()
    fill_gradient_menu(menu, space, space.document.graph["e"])
    [action] = [a for a in menu.actions() if a.text() == "Write CustomAdd…"]
    action.trigger()
    dialog = editor(driver)
    dialog.kind.setCurrentIndex(1)
    assert dialog.code.toPlainText().startswith("def CustomAdd(grad, c, k, d):")
    body = "    e = c + k\n    return (e + d) * grad, d * grad, e * grad\n"
    write(driver, f"def CustomAdd(grad, c, k, d):\n{body}")
    assert space.document.code["CustomAdd"].kind is CodeKind.NUMPY_GRADIENT
    space.select(["e"])
    driver.click("inspector.token")
    write(driver, ADD)
    commands.set_request(space, ["loss"], ["c", "k"])
    driver.settle()
    np.testing.assert_allclose(gradients(driver)[0], article.BY_C, rtol=1e-6)


@pytest.mark.slow
def test_a_name_that_no_function_can_have(driver: Driver, tmp_path: Path) -> None:
    space = opened(driver, tmp_path, "article_forward").workspace
    document = space.document
    for name in ("CustomGradient-1", "class", "2nd"):
        graph = set_attr(document.graph, "e", "_gradient_op_type", name)
        space.open_document(document.with_(graph=graph))
        space.select(["e"])
        driver.settle()
        driver.click("inspector.code.write")
        dialog = editor(driver)
        assert dialog.name.text() == name
        source = dialog.code.toPlainText()
        write(driver, source)
        assert space.document.code[name].source == source
