"""Commands as on a machine that has no checkout: in its place, and in that of its copy, there is
an empty folder."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_HIDE = 'while [ "$1" != -- ]; do mount -t tmpfs none "$1" || exit; shift; done; shift; exec "$@"'


def without(folders: Sequence[Path]) -> list[str]:
    """What to write before a command, so that these folders are empty for it, and for it alone: a
    namespace of mounts, as the administrator may have one. Nothing where that cannot be had."""
    words = ["unshare", "--mount", "sh", "-c", _HIDE, "sh", *map(str, folders), "--"]
    return words if _python_stays(folders) and _works(words) else []


def _python_stays(folders: Sequence[Path]) -> bool:
    """An interpreter that lies in the checkout would be hidden from what was installed with it."""
    base = Path(sys.base_prefix).resolve()
    return not any(base.is_relative_to(folder) for folder in folders)


def _works(words: Sequence[str]) -> bool:
    try:
        return subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False
