"""The list of trusted code, with its revocation; and own edits, which are trusted as they go on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gradstep.core.document import document_edits
from gradstep.core.document.document import Document
from gradstep.core.io.native import gradstep_file
from gradstep.core.program.trust import code_trust
from gradstep.core.program.trust.permission_levels import Permission
from gradstep.gui import commands
from gradstep.gui.dialogs.trusted_code_dialog import NONE, TrustedCodeDialog
from gradstep.gui.model.workspace import Workspace


def foreign(examples: Path, remark: str = "# from afar\n") -> Document:
    document = gradstep_file.load(examples / "override_add.gradstep")
    for item in document.code.values():
        document = document_edits.set_code(document, replace(item, source=item.source + remark))
    return document


def rewrite(space: Workspace, remark: str) -> None:
    """The user types in a function of the open document."""
    item = next(iter(space.document.code.values()))
    commands.set_code(space, replace(item, source=item.source + remark))


@pytest.fixture
def space(qapp: object, silent: None, examples: Path, tmp_path: Path) -> Workspace:
    """A workspace on a file with Python that nobody has decided about."""
    gradstep_file.save(tmp_path / "mine.gradstep", foreign(examples))
    space = Workspace()
    space.open_document(foreign(examples), tmp_path / "mine.gradstep")
    return space


def save(space: Workspace, path: Path) -> None:
    gradstep_file.save(path, space.document)
    space.saved(path)


def test_own_edits_of_trusted_code_run_and_make_one_entry(space: Workspace, tmp_path: Path) -> None:
    rewrite(space, "# mine\n")
    assert not space.trusted  # the rest of it is somebody else's still
    space.trust()
    commands.rename(space, "d", "sum")
    for i in range(20):
        rewrite(space, f"# {i}\n")
        assert space.trusted
    assert len(code_trust.decisions()) == 1
    for _ in range(3):
        rewrite(space, "# saved\n")
        save(space, tmp_path / "mine.gradstep")
    assert len(code_trust.decisions()) == 1
    assert code_trust.permission(gradstep_file.load(tmp_path / "mine.gradstep")) is Permission.FULL
    save(space, tmp_path / "copy.gradstep")  # the same program: there is nothing to remember
    rewrite(space, "# another\n")
    save(space, tmp_path / "copy.gradstep")
    assert [Path(d.place).name for d in code_trust.decisions()] == [
        "copy.gradstep",
        "mine.gradstep",
    ]


def test_no_edit_takes_a_fingerprint(space: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """It costs as much as the document is large."""
    space.trust()
    for module in ("gradstep.core.program.trust.code_trust", "gradstep.gui.model.python_rights"):
        monkeypatch.setattr(f"{module}.fingerprint", lambda _: pytest.fail("of the document"))
    rewrite(space, "# mine\n")
    commands.rename(space, "d", "other")
    space.undo_stack.undo()
    assert space.trusted


def test_undo_leads_back_to_what_nobody_decided_about(space: Workspace) -> None:
    for name in list(space.document.code):
        space.edit("Remove", document_edits.remove_code(space.document, name))
    assert space.trusted  # there is none
    space.undo_stack.undo()
    assert not space.trusted


def test_code_of_ones_own_needs_no_question(
    space: Workspace, tmp_path: Path, examples: Path
) -> None:
    space.open_document(Document())
    for item in foreign(examples).code.values():
        commands.set_code(space, item)
    assert space.trusted
    assert code_trust.decisions() == ()  # and costs nothing while it is typed
    save(space, tmp_path / "own.gradstep")
    space.open_document(gradstep_file.load(tmp_path / "own.gradstep"), tmp_path / "own.gradstep")
    assert space.trusted


def test_a_damaged_list_is_said_when_it_matters(space: Workspace, examples: Path) -> None:
    space.trust()
    code_trust.store().path.write_bytes(b"{")
    said: list[str] = []
    space.message.connect(lambda _, text: said.append(text))
    space.open_document(foreign(examples))
    assert not space.trusted
    [text] = said
    assert str(code_trust.store().damaged()[0]) in text


def test_the_list_shows_each_decision_and_takes_it_back(space: Workspace, examples: Path) -> None:
    for number in range(3):
        permission = Permission.CONFINED if number == 1 else Permission.FULL
        code_trust.allow(
            foreign(examples, f"# {number}\n"), permission, f"/home/me/{number}.gradstep"
        )
    space.open_document(foreign(examples, "# 2\n"))
    assert space.trusted
    dialog = TrustedCodeDialog(space)
    assert [dialog.model.cell(row, 0).text for row in range(3)] == [
        "2.gradstep",
        "1.gradstep",
        "0.gradstep",
    ]
    runs = [dialog.model.cell(row, 2).text for row in range(3)]
    assert runs == ["with your rights", "without network and files", "with your rights"]
    assert not dialog.one.isEnabled()
    dialog.table.selectRow(1)
    dialog.one.click()
    assert len(code_trust.decisions()) == 2
    assert space.trusted  # another one was meant
    dialog.all.click()
    assert code_trust.decisions() == ()
    assert not space.trusted
    assert dialog.said.text() == NONE
    assert not dialog.all.isEnabled()
