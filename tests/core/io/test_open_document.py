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
