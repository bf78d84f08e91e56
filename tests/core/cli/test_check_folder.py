"""gradstep check of a folder: all documents, several at a time, each with what it comes to."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER

pytestmark = pytest.mark.usefixtures("forked_workers")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two documents that hold, in folders of their own."""
    (tmp_path / "inside").mkdir()
    shutil.copy(FOLDER / "tutorial.gradstep", tmp_path)
    shutil.copy(FOLDER / "nan_gradient.gradstep", tmp_path / "inside")
    return tmp_path


@pytest.mark.slow
def test_all_documents_of_a_folder(cli: Cli, folder: Path) -> None:
    found = cli("check", folder, "--workers", 2, "--json")
    assert found.status == 0
    assert found.json["passed"]
    checked = {each["file"]: each for each in found.json["checked"]}
    for file in ("tutorial.gradstep", "inside/nan_gradient.gradstep"):
        alone = cli("check", folder / file, "--json").json
        assert checked[str(folder / file)]["conclusion"] == alone["conclusion"]
    (folder / "notes.gradstep").write_text("no document")
    (folder / "notes.txt").write_text("not looked at")
    worse = cli("check", folder, "--workers", 1)
    assert worse.status == 1
    assert worse.out.splitlines()[-1] == "2 of 3 hold"
    assert "notes.gradstep: is not a Gradstep document" in worse.out


@pytest.mark.slow
def test_a_line_for_each_document_as_it_is_over(cli: Cli, folder: Path) -> None:
    (folder / "notes.gradstep").write_text("no document")
    result = cli("check", folder, "--workers", 1, "--json", "--lines")
    *lines, last = map(json.loads, result.out.splitlines())
    assert result.status == 1
    assert sorted(lines, key=lambda each: each["file"]) == last["checked"]
    assert [each["passed"] for each in last["checked"]] == [True, False, True]
    assert "--lines is about --json" in cli("check", folder, "--lines").err
    assert "--lines is about a folder" in cli("check", folder / "tutorial.gradstep", "--lines").err


def test_what_is_about_one_document_is_said(cli: Cli, folder: Path) -> None:
    assert "--of is about one document" in cli("check", folder, "--of", "loss").err
    assert (
        "--workers is about a folder"
        in cli("check", folder / "tutorial.gradstep", "--workers", 2).err
    )
    (folder / "empty").mkdir()
    assert "there is no document in" in cli("check", folder / "empty").err


def test_a_folder_that_is_opened_as_a_file_is_checked_as_that(cli: Cli, folder: Path) -> None:
    (folder / "saved_model.pb").write_bytes(b"\x08\x01\x12\x05")
    (folder / "fingerprint.pb").write_bytes(b"\x08\x05")
    found = cli("check", folder)
    assert found.status != 0
    assert "saved_model.pb" in found.err
    assert "fingerprint" not in found.out + found.err
