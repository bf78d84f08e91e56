"""Archives unpacked alike by every Python: 3.11.3 knows no filters, and 3.12 warns without one."""

from __future__ import annotations

import tarfile
from pathlib import Path


def unpack(archive: tarfile.TarFile, folder: Path) -> None:
    """All that the archive has, and nothing outside the folder where Python sees to that."""
    if hasattr(tarfile, "data_filter"):
        archive.extraction_filter = tarfile.data_filter
    archive.extractall(folder)
