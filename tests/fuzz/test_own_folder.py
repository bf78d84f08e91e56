"""Nothing is written outside of the folder that a case stands in."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fuzz.case import Case
from tests.fuzz.own_folder import own_folder
from tests.fuzz.pipeline import try_case

WAYS: dict[str, Callable[[Path], object]] = {
    "write": lambda path: path.write_text("other"),
    "append": lambda path: path.open("a"),
    "open": lambda path: os.open(path, os.O_RDWR),
    "remove": os.remove,
    "move away": lambda path: path.rename("here"),
    "move there": lambda path: (Path("own").write_text("x"), os.replace("own", path)),
    "copy": lambda path: (Path("own").write_text("x"), shutil.copy("own", path)),
    "link there": lambda path: os.symlink("own", path.with_name("link")),
    "through a link": lambda path: (os.symlink(path, "link"), Path("link").write_text("x")),
    "up and down": lambda path: Path(os.path.relpath(path)).write_text("x"),
    "folder": lambda path: path.with_name("new").mkdir(),
    "folder away": lambda path: shutil.rmtree(path.parent),
    "mode": lambda path: path.chmod(0),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_leads_out_is_refused(way: str, tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_text("kept")
    mode = path.stat().st_mode
    with own_folder(), pytest.raises(PermissionError, match="outside of the folder"):
        WAYS[way](path)
    assert path.read_text() == "kept"
    assert path.stat().st_mode == mode
    assert [*tmp_path.iterdir()] == [path]
    path.write_text("other")  # from here on as ever


def test_what_stays_inside_or_only_reads_is_let_be() -> None:
    with own_folder():
        here = Path.cwd()
        (here / "a").mkdir()
        Path("a/b").write_text("x")
        os.replace("a/b", "c")
        with tempfile.NamedTemporaryFile() as file:
            assert Path(file.name).parent == here
        assert Path(__file__).read_text()
        Path(os.devnull).write_text("x")
    assert not here.exists()


@pytest.mark.parametrize("line", ["capture\ntorch\n--out\n", "convert\nHERE/gather.gradstep\n"])
def test_a_command_cannot_write_where_an_odd_name_leads(line: str, tmp_path: Path) -> None:
    path = tmp_path / "kept.py"
    path.write_text("kept")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path)
        try_case(Case(".command", f"{line}{path}".encode()), heavy=False)
    assert path.read_text() == "kept"
