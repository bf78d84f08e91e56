"""Saving replaces the file at once, or leaves the old one as it was."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import GradstepError
from core.io.atomic import replace_file


def test_new_and_old_files(tmp_path: Path) -> None:
    path = tmp_path / "a.gradstep"
    replace_file(path, b"one")
    replace_file(path, b"two")
    assert path.read_bytes() == b"two"
    assert os.listdir(tmp_path) == ["a.gradstep"]


def test_the_mode_is_kept_and_a_new_file_follows_the_umask(tmp_path: Path) -> None:
    path = tmp_path / "a"
    old = os.umask(0o027)
    try:
        replace_file(path, b"")
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    replace_file(path, b"x")
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target = tmp_path / "folder" / "target"
    target.write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to(target)
    replace_file(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def _refuse(error: int) -> Callable[..., None]:
    def refuse(*args: object, **kwargs: object) -> None:
        raise OSError(error, os.strerror(error))

    return refuse


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EACCES, errno.EIO])
def test_a_failure_leaves_the_old_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: int
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with monkeypatch.context() as patched:
        patched.setattr(os, step, _refuse(error))
        with pytest.raises(GradstepError, match="nothing was changed") as caught:
            replace_file(path, b"new")
    assert caught.value.kind == "FileError"
    assert caught.value.hint
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_an_interrupt_leaves_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*args: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            replace_file(tmp_path / "a", b"new")
    assert os.listdir(tmp_path) == []


def test_a_read_only_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    if os.geteuid() == 0:  # root may write anywhere: let the system call say what it would
        monkeypatch.setattr("tempfile.mkstemp", _refuse(errno.EACCES))
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(GradstepError, match="read-only"):
            replace_file(path, b"new")
    finally:
        tmp_path.chmod(0o700)
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize(
    ("name", "said"),
    [("none/a", "folder does not exist"), ("file/a", "not a folder"), ("", "folder")],
)
def test_bad_places(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(GradstepError, match=said):
        replace_file(tmp_path / name, b"x")
