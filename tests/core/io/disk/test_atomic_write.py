"""Saving replaces the file at once, or leaves the old one as it was; what else it is stays."""

from __future__ import annotations

import errno
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.io.disk import in_place_write
from gradstep.core.io.disk.atomic_write import remove_parts, replace_file
from gradstep.core.io.disk.file_claims import claim


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    return path


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


def test_both_names_of_a_file_keep_naming_it(path: Path) -> None:
    other = path.with_name("b")
    os.link(path, other)
    for data in (b"new and longer", b"short"):
        replace_file(path, data)
        assert other.read_bytes() == data
    assert path.stat().st_ino == other.stat().st_ino
    assert list(in_place_write.records_folder().iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_owner_and_group_are_kept(path: Path) -> None:
    os.chown(path, 12345, 23456)
    path.chmod(0o4755)
    replace_file(path, b"new")
    status = path.stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (12345, 23456, 0o4755)


def test_an_owner_that_cannot_be_given_is_kept_in_place(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for a file of a group, which another user made."""
    inode = path.stat().st_ino
    status = os.stat

    def of_another(file: object, **more: object) -> os.stat_result:
        found = status(file, **more)  # type: ignore[arg-type]
        if os.fspath(file) != str(path):  # type: ignore[call-overload]
            return found
        return os.stat_result([*found[:4], found.st_uid + 1, *found[5:]])

    monkeypatch.setattr(os, "stat", of_another)
    monkeypatch.setattr(os, "fchown", _refuse(errno.EPERM))
    replace_file(path, b"new")
    monkeypatch.undo()
    assert (path.read_bytes(), path.stat().st_ino) == (b"new", inode)
    assert os.listdir(path.parent) == ["a"]


def test_extended_attributes_are_kept(path: Path) -> None:
    try:
        os.setxattr(path, "user.note", b"mine")
    except OSError:
        pytest.skip("this file system has none")
    replace_file(path, b"new")
    assert os.getxattr(path, "user.note") == b"mine"


def test_access_control_lists_are_kept(path: Path) -> None:
    # Version 2; the owner rw, user 12345 r, the group r, the mask r, others nothing.
    rows = [(1, 6, -1), (2, 4, 12345), (4, 4, -1), (16, 4, -1), (32, 0, -1)]
    data = b"\2\0\0\0" + b"".join(
        tag.to_bytes(2, "little") + bits.to_bytes(2, "little") + (who % 2**32).to_bytes(4, "little")
        for tag, bits, who in rows
    )
    try:
        os.setxattr(path, "system.posix_acl_access", data)
    except OSError:
        pytest.skip("this file system has none")
    replace_file(path, b"new")
    assert os.getxattr(path, "system.posix_acl_access") == data


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    made = socket.socket(socket.AF_UNIX)
    made.bind(str(path))
    made.close()


@pytest.mark.parametrize(("make", "said"), [(_fifo, "named pipe"), (_socket, "socket")])
def test_what_is_no_file_is_refused(
    tmp_path: Path, make: Callable[[Path], None], said: str
) -> None:
    path = tmp_path / "x"
    make(path)
    mode = path.stat().st_mode
    with pytest.raises(GradstepError, match=f"{said}, not a file; nothing was changed"):
        replace_file(path, b"new")
    assert path.stat().st_mode == mode


@pytest.mark.parametrize("kind", [stat.S_IFCHR, stat.S_IFBLK])
def test_a_device_is_refused(path: Path, kind: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stat says of the file is made up: no test may come near a real device."""
    status = os.stat
    monkeypatch.setattr(
        os, "stat", lambda file, **more: os.stat_result([kind | 0o666, *status(file, **more)[1:]])
    )
    with pytest.raises(GradstepError, match="it is a device, not a file"):
        replace_file(path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"


def _refuse(error: int) -> Callable[..., None]:
    def refuse(*args: object, **kwargs: object) -> None:
        raise OSError(error, os.strerror(error))

    return refuse


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EACCES, errno.EIO])
def test_a_failure_leaves_the_old_file_alone(
    path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: int
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(os, step, _refuse(error))
        with pytest.raises(GradstepError, match="nothing was changed") as caught:
            replace_file(path, b"new")
    assert caught.value.kind == "FileError"
    assert caught.value.hint
    assert path.read_bytes() == b"old"
    assert os.listdir(path.parent) == ["a"]


def test_an_interrupt_leaves_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*args: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            replace_file(tmp_path / "a", b"new")
    assert os.listdir(tmp_path) == []


@pytest.fixture
def closed_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """One in which no file may be made; root may, and is told otherwise."""
    opened = os.open

    def refuse(name: object, flags: int, *more: int, **rest: object) -> int:
        if flags & os.O_CREAT and Path(os.fspath(name)).parent == tmp_path:  # type: ignore[call-overload]
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(name, flags, *more, **rest)  # type: ignore[arg-type, no-any-return]

    monkeypatch.setattr(os, "open", refuse)
    tmp_path.chmod(0o500)
    yield tmp_path
    tmp_path.chmod(0o700)


def test_a_file_in_a_closed_folder_is_written_in_place(path: Path, closed_folder: Path) -> None:
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    with pytest.raises(GradstepError, match="read-only"):
        replace_file(closed_folder / "another", b"new")


def test_a_full_disk_leaves_a_file_that_is_written_in_place(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.link(path, path.with_name("b"))
    with monkeypatch.context() as patched:
        patched.setattr(os, "posix_fallocate", _refuse(errno.ENOSPC))
        with pytest.raises(GradstepError, match=r"No space.*nothing was changed"):
            replace_file(path, b"new and longer")
    assert path.read_bytes() == b"old"


def test_a_torn_file_is_completed_and_one_written_since_is_left(path: Path) -> None:
    os.link(path, path.with_name("b"))
    folder = in_place_write.records_folder()
    folder.mkdir(parents=True)
    record = folder / "x.redo"
    record.write_bytes(in_place_write.as_bytes(in_place_write.Redo(str(path), b"old text", b"NEW")))
    path.write_bytes(b"NEd text")
    in_place_write.finish()
    assert path.read_bytes() == b"NEW"
    assert not record.exists()
    record.write_bytes(in_place_write.as_bytes(in_place_write.Redo(str(path), b"old text", b"NEW")))
    path.write_bytes(b"by hand")
    in_place_write.finish()
    assert path.read_bytes() == b"by hand"


def test_what_a_killed_process_left_goes_with_the_next_save(path: Path) -> None:
    """Its own, and not a living process's."""
    dead = path.with_name(f".a.{'0' * 16}.gradstep-part")
    living = path.with_name(f".a.{'1' * 16}.gradstep-part")
    others = path.with_name(".a.mine.gradstep-part")
    for each in (dead, living, others):
        each.write_bytes(b"half")
    handle = os.open(living, os.O_RDWR)
    assert claim(handle)
    replace_file(path, b"new")
    assert sorted(os.listdir(path.parent)) == sorted([living.name, others.name, "a"])
    os.close(handle)
    remove_parts(path.parent)
    assert sorted(os.listdir(path.parent)) == [others.name, "a"]


def test_a_process_that_dies_lets_go(path: Path) -> None:
    code = "import os, sys; from gradstep.core.io.disk.file_claims import claim\n" \
           "assert claim(os.open(sys.argv[1], os.O_RDWR)); os._exit(9)"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code, str(path)], cwd=Path.cwd(), check=False)
    assert done.returncode == 9
    handle = os.open(path, os.O_RDWR)
    assert claim(handle)
    os.close(handle)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none/a", "folder does not exist"),
        ("file/a", "not a folder"),
        ("", "folder"),
        ("a\0b", "no file can have that name"),
        ("a\ud800b", "no file can have that name"),
    ],
)
def test_bad_places(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(GradstepError, match=said):
        replace_file(f"{tmp_path}/{name}", b"x")


def test_the_record_stays_where_not_even_the_old_contents_come_back(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that fails in the middle of the file, and goes on to fail."""
    os.link(path, path.with_name("b"))
    overwrite = in_place_write._overwrite

    def fail(handle: int, data: bytes) -> None:
        if data in (b"NEW TEXT", b"old"):
            os.pwrite(handle, b"N", 0)
            raise OSError(errno.EIO, "Input/output error")
        overwrite(handle, data)

    with monkeypatch.context() as patched:
        patched.setattr(in_place_write, "_overwrite", fail)
        with pytest.raises(GradstepError, match="Input/output error"):
            replace_file(path, b"NEW TEXT")
    assert path.read_bytes()[:1] == b"N"
    in_place_write.finish()
    assert path.read_bytes() == b"NEW TEXT"
    assert list(in_place_write.records_folder().iterdir()) == []
