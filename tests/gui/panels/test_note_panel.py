"""The note panel: the document's words, its links, and a mark on each expectation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gradstep.core.document import document_edits
from gradstep.gui import commands
from gradstep.gui.dialogs.note_dialog import NoteDialog
from gradstep.gui.look import theme
from gradstep.gui.panels.note_panel import NotePanel
from gradstep.gui.panels.widgets import markdown_text
from tests.examples.expect import fails, gradient, value


@pytest.fixture
def panel(bench: Any, qtbot: Any, show: Callable[..., Any]) -> Any:
    """On an override with a note, a claim, and four expectations of which one holds."""
    document = bench.open("override_add").with_(
        title="An override",
        note="Look at `e`, then at `x`.\n\n| a | b |\n|---|---|\n| 1 | **2** |",
        claim="The result is the same.",
        truth="`grad` holds the factor already.",
        expectations=(
            gradient("c", [0.711478, -2.078167], "What the override gives."),
            value("loss", 9, "Not so."),
            gradient("k", None, "It has one."),
            fails("", "", "", "It does not.", run=1),
        ),
    )
    bench.space.open_document(document)
    bench.space.trust()  # the example as it came is checked with other values than these, too
    made = show(NotePanel(bench.space))
    qtbot.waitUntil(lambda: bench.space.expected.checked is not None)
    return made


def test_words_and_marks_are_shown(panel: Any) -> None:
    assert panel.heading.accessibleName() == "An override"
    assert "<table" in panel.note.text()
    assert 'href="e"' in panel.note.text()
    assert 'href="x"' not in panel.note.text()
    assert panel.claim.claim.text.accessibleName() == "The result is the same."
    assert panel.claim.truth.isVisible()
    rows = panel.expectations.rows
    assert [row.checked.ok for row in rows] == [True, False, False, False]
    assert [row.accessibleName().rpartition("(")[2] for row in rows] == [
        "holds)",
        *3 * ["does not hold)"],
    ]
    assert "0.711478" in rows[0].came.text()
    assert "0.663694" in rows[1].came.text()
    assert rows[3].came.text() == "the run · run 2 → no failure"
    assert panel.expectations.heading.remark.text() == "3 of 4 do not hold"


def test_a_name_in_the_note_selects_its_node(panel: Any, bench: Any) -> None:
    panel.note.linkActivated.emit("e")
    assert bench.space.selection == ("e",)
    assert ("reveal", "e") in bench.views


def test_names_in_the_title_are_links_as_well(panel: Any, bench: Any) -> None:
    commands.set_note(bench.space, "What `e` does, and `f(x)`", "A note.", "", "")
    text = panel.heading.text()
    assert "`" not in text
    assert 'href="e"' in text
    assert "f(x)" in text
    panel.heading.linkActivated.emit("e")
    assert bench.space.selection == ("e",)


def test_an_edit_is_checked_anew(panel: Any, bench: Any, qtbot: Any) -> None:
    commands.toggle_breakpoint(bench.space, "e")
    assert panel.expectations.rows[0].checked.ok, "breakpoints change nothing"
    commands.toggle_override(bench.space, 0)
    assert bench.space.expected.checked is None
    assert panel.expectations.heading.remark.text() == "not checked yet"
    bench.space.debugger.flush()
    qtbot.waitUntil(lambda: bench.space.expected.checked is not None)
    assert not panel.expectations.rows[0].checked.ok
    assert "0.567514" in panel.expectations.rows[0].came.text()


def test_an_edit_that_is_taken_back_at_once_leaves_nothing_unchecked(
    panel: Any, bench: Any, qtbot: Any
) -> None:
    """Though the engine hears of none, and so tells of no other program."""
    commands.toggle_override(bench.space, 0)
    bench.space.undo_stack.undo()
    qtbot.waitUntil(lambda: bench.space.expected.checked is not None)
    assert panel.expectations.rows[0].checked.ok


def test_a_note_is_written_and_taken_back(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    document = bench.open("gather").with_(note="", claim="", truth="", expectations=())
    bench.space.open_document(document)
    panel = show(NotePanel(bench.space))
    assert "Edit > Note" in panel.empty_text
    dialog = NoteDialog(bench.space)
    qtbot.addWidget(dialog)
    dialog.title.setText("Mine")
    dialog.note.setPlainText("Out of **range**.\n")
    dialog.truth.setPlainText("It depends.")
    dialog.finish()
    assert (bench.space.document.title, bench.space.document.note) == ("Mine", "Out of **range**.")
    assert "font-weight:600" in panel.note.text()
    assert panel.claim.truth.isVisible()
    assert not panel.claim.claim.isVisible()
    bench.space.undo_stack.undo()
    assert bench.space.document is document
    assert panel.empty_text
    commands.set_note(bench.space, document.title, "", "", "")
    assert bench.space.undo_stack.count() == 1, "nothing was changed"


def test_renaming_a_node_moves_its_link(panel: Any, bench: Any) -> None:
    bench.space.edit("Rename", document_edits.rename_operation(bench.space.document, "e", "x"))
    assert 'href="x"' in panel.note.text()
    assert 'href="e"' not in panel.note.text()


def test_what_an_edit_does_not_concern_is_not_made_anew(
    panel: Any, bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text is, whose links are others; a row takes what another one said."""
    made: list[str] = []
    to_html = markdown_text.to_html

    def noted(marked: str, *rest: Any) -> str:
        made.append(marked)
        return to_html(marked, *rest)

    monkeypatch.setattr(markdown_text, "to_html", noted)
    space, rows = bench.space, [*panel.expectations.rows]
    commands.rename(space, "b", "other")
    assert made == []
    commands.rename(space, "e", "x")
    assert space.document.note in made
    assert all(a is b for a, b in zip(panel.expectations.rows, rows, strict=True))
    _, *others = space.document.expectations
    commands.remove_expectation(space, 0)
    assert all(a is b for a, b in zip(panel.expectations.rows, rows[:-1], strict=True))
    said = [row.text.accessibleName() for row in panel.expectations.rows]
    assert said == [e.text for e in others]


def test_the_texts_follow_the_theme(panel: Any, bench: Any) -> None:
    bench.space.set_theme(theme.LIGHT)
    for text in (panel.note, panel.claim.truth.text, panel.expectations.rows[0].text):
        assert theme.LIGHT.text.name() in text.text()
        assert theme.DARK.text.name() not in text.text()


def test_what_a_run_gives_is_added_and_removed(panel: Any, bench: Any, qtbot: Any) -> None:
    """Of the selected node its value and gradient after this run; of a run that fails, how."""
    before = bench.space.document.expectations
    bench.run("continue_", "continue_")
    bench.space.select(["c"])
    panel.expectations.add.click()
    *kept, of_value, of_gradient = bench.space.document.expectations
    assert (tuple(kept), of_value.run) == (before, 1)
    assert (of_value.what, of_gradient.what) == ('x["c"]', 'grad["c"]')
    qtbot.waitUntil(lambda: len(bench.space.expected.checked or ()) == len(before) + 2)
    assert [row.checked.ok for row in panel.expectations.rows[-2:]] == [True, True]
    panel.expectations.rows[-1].remove.trigger()
    assert bench.space.document.expectations == (*before, of_value)
    bench.space.open_document(bench.open("gather").with_(expectations=()))
    bench.space.debugger.flush()
    bench.run("continue_")
    commands.expect_run(bench.space)
    (failure,) = bench.space.document.expectations
    assert (failure.what, failure.kind.value, failure.error) == (
        "b",
        "fails",
        "InvalidArgumentError",
    )
