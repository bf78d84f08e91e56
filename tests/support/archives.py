"""Tar archives of the project's own, unpacked by every Python that it runs on."""

from __future__ import annotations

import tarfile
from pathlib import Path


def unpack(archive: tarfile.TarFile, folder: Path) -> None:
    """All of it, into a folder that is there. Of 3.11, only versions from .4 on take a filter as an
    argument; Debian 12's is 3.11.2."""
    archive.extraction_filter = getattr(tarfile, "data_filter", None)
    archive.extractall(folder)
