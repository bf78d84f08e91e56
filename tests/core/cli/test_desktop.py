"""`gradstep desktop`: a menu entry, icons and a file type that desktops understand, and no trace of
them afterwards."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeDatabase
from PySide6.QtGui import QImage

from gradstep.core import installation
from gradstep.core.cli.freedesktop import desktop_databases, entry_files, written_files
from gradstep.core.cli.freedesktop.entry_files import SIZES, data_home
from gradstep.core.cli.freedesktop.written_files import WrittenFiles
from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.atomic_write import replace_file
from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="desktops of Linux")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's data folder, with a program of another's in it; and a command with an odd name."""
    home = tmp_path / "da ta"
    command = tmp_path / 'a "$b" 100%\\' / "gradstep"
    for path in (home / "applications" / "other.desktop", command):
        path.parent.mkdir(parents=True)
        path.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    monkeypatch.setenv("XDG_DATA_HOME", str(home))
    monkeypatch.setattr(sys, "argv", [str(command)])
    monkeypatch.setattr(desktop_databases, "_run", lambda command: "")  # tested below, for real
    return home


def tree(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def test_what_install_writes_uninstall_takes_away(cli: Cli, home: Path) -> None:
    before = tree(home)
    first = cli("desktop", "install", "--json").json
    assert len(first["written"]) == 3 + len(SIZES)
    assert first["unchanged"] == []
    installed = tree(home)
    again = cli("desktop", "install", "--json").json
    assert (again["written"], again["unchanged"]) == ([], first["written"])
    assert tree(home) == installed
    assert sorted(cli("desktop", "uninstall", "--json").json["removed"]) == sorted(first["written"])
    assert tree(home) == before
    assert cli("desktop", "uninstall").out == "Gradstep was not in the menu\n"


def test_the_entry_starts_the_command_that_was_typed(cli: Cli, home: Path) -> None:
    cli("desktop", "install")
    entry = home / "applications" / "gradstep.desktop"
    (line,) = [x for x in entry.read_text().splitlines() if x.startswith("Exec=")]
    value = line.removeprefix("Exec=").replace("\\\\", "\\")  # the file's escapes
    quoted, _, field = value.rpartition(" ")
    shell = subprocess.run(  # within quotes, a shell reads as the specification does
        ["/bin/sh", "-c", f"printf %s {quoted}"], capture_output=True, text=True, check=True
    )
    assert shell.stdout.replace("%%", "%") == sys.argv[0]
    assert field == "%f"
    if validator := shutil.which("desktop-file-validate"):
        subprocess.run([validator, entry], check=True)


def test_icons_are_as_large_as_their_folders_say(cli: Cli, home: Path) -> None:
    cli("desktop", "install")
    for size in SIZES:
        picture = QImage(str(home / f"icons/hicolor/{size}x{size}/apps/gradstep.png"))
        assert (picture.width(), picture.height()) == (size, size)
        assert picture.pixelColor(0, 0).alpha() == 0
        assert picture.pixelColor(size // 2, size // 16 + 1).alpha() == 255


@pytest.mark.skipif(not shutil.which("update-mime-database"), reason="no shared-mime-info")
def test_documents_are_known_by_name_and_by_contents(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("XDG_DATA_HOME", str(home))
    assert "update-mime-database" not in str(cli("desktop", "install", "--json").json["notes"])
    unnamed = tmp_path / "unnamed"
    shutil.copy(FOLDER / "tutorial.gradstep", unnamed)
    (tmp_path / "empty.gradstep").touch()
    for name in (unnamed, tmp_path / "empty.gradstep"):
        found = QMimeDatabase().mimeTypeForFile(str(name))
        assert found.name() == "application/x-gradstep+zip"
        assert found.inherits("application/zip")
    cli("desktop", "uninstall")
    assert not (home / "mime").exists()
    assert {p.name for p in home.rglob("*.*")} <= {"other.desktop", "mimeinfo.cache"}


def test_what_somebody_changed_stays(cli: Cli, home: Path) -> None:
    cli("desktop", "install")
    entry = home / "applications" / "gradstep.desktop"
    entry.write_text("mine")
    refused = cli("desktop", "install")
    assert refused.status == 1
    assert f"{entry} is there, and is not as Gradstep writes it" in refused.err
    result = cli("desktop", "uninstall")
    assert result.status == 1
    assert f"left {entry}: it was changed since" in result.out
    assert entry.read_text() == "mine"
    assert not (home / "icons").exists()
    entry.unlink()
    assert cli("desktop", "uninstall").status == 0
    assert sorted(tree(home)) == ["applications", "applications/other.desktop"]


def test_what_was_there_before_stays(cli: Cli, home: Path) -> None:
    icon = home / "icons/hicolor/scalable/apps/gradstep.svg"
    icon.parent.mkdir(parents=True)
    shutil.copy(FOLDER.parent / "icons" / "gradstep.svg", icon)
    before = tree(home)
    assert str(icon) in cli("desktop", "install", "--json").json["unchanged"]
    cli("desktop", "uninstall")
    assert tree(home) == before


def test_what_an_older_version_wrote_goes(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(home)
    with monkeypatch.context() as older:
        older.setattr(entry_files, "SIZES", (*SIZES, 20))
        cli("desktop", "install")
    (gone,) = cli("desktop", "install", "--json").json["removed"]
    assert gone == str(home / "icons/hicolor/20x20/apps/gradstep.png")
    assert not (home / "icons/hicolor/20x20").exists()
    cli("desktop", "uninstall")
    assert tree(home) == before


@pytest.mark.parametrize("number", range(3 + len(SIZES)))
def test_an_installation_that_was_cut_off_is_taken_away_whole(
    home: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And one that is begun again is completed."""
    before = tree(home)
    files = entry_files.entry_files(Path("/bin/gradstep"), lambda size: b"%d" % size)
    record = WrittenFiles(home / "gradstep" / "desktop.json")
    last = [*files][number]

    def fill_the_disk(path: Path, data: bytes) -> None:
        if path == last:
            raise GradstepError("no space left", kind="FileError")
        replace_file(path, data)

    with monkeypatch.context() as full:
        full.setattr(written_files, "replace_file", fill_the_disk)
        with pytest.raises(GradstepError, match="no space"):
            record.put(files)
    again = WrittenFiles(record.path)
    if number % 2:
        again.put(files)
        assert all(path.read_bytes() == data for path, data in files.items())
    again.remove()
    again.forget_folders()
    assert tree(home) == before


def test_an_icon_cache_is_made_anew_only_where_there_is_one(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    monkeypatch.setattr(desktop_databases, "_run", lambda command: ran.append(command[0]) or "")
    icons = home / "icons" / "hicolor"
    icons.mkdir(parents=True)
    os.utime(icons, (0, 0))
    desktop_databases.update_databases(home)
    assert "gtk-update-icon-cache" not in ran
    assert icons.stat().st_mtime > 0
    (icons / "icon-theme.cache").touch()
    desktop_databases.update_databases(home)
    assert "gtk-update-icon-cache" in ran


def test_a_tool_that_lacks_is_said(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("PATH", "")
    (said,) = desktop_databases.update_databases(home)
    assert said.startswith("update-desktop-database is not installed")


def test_not_for_others_and_not_elsewhere(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(home)
    monkeypatch.setenv("SUDO_UID", "1000")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "without sudo" in cli("desktop", "install").err
    for platform, hint in (
        ("darwin", "in a terminal"),
        ("win32", f"choose 'Open with' and there {sys.argv[0]}"),
    ):
        monkeypatch.setattr(sys, "platform", platform)
        result = cli("desktop", "install")
        assert (result.status, result.out) == (1, "")
        assert hint in result.err
    assert tree(home) == before


def test_a_command_that_is_not_there(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "argv", ["main.py"])
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert installation.command_path() is None
    assert f"{installation.extra_command()} makes one" in cli("desktop", "install").err


def test_a_relative_data_folder_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "here")
    assert data_home() == Path.home() / ".local" / "share"
