"""The recorded traces, which the repository keeps in one archive: together they are small."""

from __future__ import annotations

import io
import tarfile
import tempfile
import zipfile
from functools import cache
from pathlib import Path

ARCHIVE = Path(__file__).parents[1] / "data" / "traces" / "torch.tar.xz"
_FOLDER = tempfile.TemporaryDirectory(prefix="gradstep-traces-")


@cache
def traces() -> Path:
    """A folder with all of them, for as long as this process lasts."""
    if ARCHIVE.is_file():
        with tarfile.open(ARCHIVE) as archive:
            archive.extractall(_FOLDER.name, filter="data")
    return Path(_FOLDER.name)


def pack(folder: Path) -> None:
    """Make the archive of the traces in a folder: not packed themselves, so that it finds what
    they have in common; equal ones give equal bytes."""
    ARCHIVE.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(ARCHIVE, "w:xz", preset=9) as archive:
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
