"""The recorded traces, which the repository keeps in an archive a framework: together they are
small."""

from __future__ import annotations

import io
import tarfile
import tempfile
import zipfile
from functools import cache
from pathlib import Path

from tests.support.unpacking import unpack

_DATA = Path(__file__).parents[1] / "data" / "traces"
ARCHIVE = _DATA / "torch.tar.xz"
_FOLDER = tempfile.TemporaryDirectory(prefix="gradstep-traces-")


def traces(framework: str = "torch") -> Path:
    """A folder with all of a framework's, for as long as this process lasts."""
    return _unpacked(framework)


@cache
def _unpacked(framework: str) -> Path:
    folder = Path(_FOLDER.name, framework)
    folder.mkdir()
    if (file := _archive(framework)).is_file():
        with tarfile.open(file) as archive:
            unpack(archive, folder)
    return folder


def _archive(framework: str) -> Path:
    return _DATA / f"{framework}.tar.xz"


def pack(folder: Path, framework: str = "torch") -> None:
    """Make the archive of the traces in a folder: not packed themselves, so that it finds what
    they have in common; equal ones give equal bytes."""
    file = _archive(framework)
    file.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(file, "w:xz", preset=9) as archive:
        for path in sorted(folder.glob("*.gstrace")):
            data = _stored(path)
            info = tarfile.TarInfo(path.name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


def _stored(path: Path) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            new.writestr(zipfile.ZipInfo(name), old.read(name))
    return buffer.getvalue()
