"""Opening a file, and what is said when it cannot be."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read


def test_a_document(tmp_path: Path) -> None:
    gradstep_file.save(tmp_path / "a.GradStep", Document(title="here"))
    assert read(tmp_path / "a.GradStep").title == "here"


@pytest.mark.parametrize(
    ("name", "said", "hint"),
    [
        ("toturial.gradstep", "no such file", "tutorial.gradstep"),
        ("none/a.gradstep", "no such file", "no folder"),
        ("folder.gradstep", "is a folder", "file in it"),
        ("a.xyz", "no such file", "check the path"),
        ("tutorial.gradstep", "it is empty", "another copy"),
    ],
)
def test_what_cannot_be_opened(tmp_path: Path, name: str, said: str, hint: str) -> None:
    (tmp_path / "tutorial.gradstep").write_bytes(b"")
    (tmp_path / "folder.gradstep").mkdir()
    with pytest.raises(GradstepError, match=said) as caught:
        read(tmp_path / name)
    assert caught.value.kind == "FileError"
    assert hint in caught.value.hint


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file(tmp_path: Path) -> None:
    path = tmp_path / "a.gradstep"
    path.write_bytes(b"")
    path.chmod(0)
    with pytest.raises(GradstepError, match="may not read"):
        read(path)


@pytest.mark.parametrize(
    ("name", "what", "todo"),
    [
        ("a.gradstep", "a Gradstep document", "open another file"),
        ("a.gradrec", "a recording of a device", "--record OUT.gradrec"),
        ("a.gstrace", "a trace of a model", "capture torch"),
    ],
)
def test_what_only_has_its_name_is_said_not_to_be_that(
    tmp_path: Path, name: str, what: str, todo: str
) -> None:
    path = tmp_path / name
    path.write_bytes(b"\xff\xd8 no zip at all")
    with pytest.raises(GradstepError) as caught:
        read(path)
    said = f"{path}: is not {what}: it is no zip archive, and begins with ff d8 20 6e 6f 20 7a 69"
    assert caught.value.message == said
    assert todo in caught.value.hint
