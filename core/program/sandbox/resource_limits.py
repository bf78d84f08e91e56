"""Limits of a confined process: memory, the size of a file, no core files."""

from __future__ import annotations

import os
import sys

from gradstep.core.program.sandbox.sandbox_profile import Profile

_FILE = 1 << 30  # bytes


def restrict(profile: Profile) -> None:
    """Set them for this process, for good. A GPU's driver reserves more addresses than there is
    memory, so there that is not limited."""
    if sys.platform == "win32":
        return
    import resource

    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, _FILE)
    if profile is not Profile.GPU and sys.platform == "linux":
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        _lower(resource.RLIMIT_AS, memory)


def _lower(which: int, most: int) -> None:
    import resource

    _, hard = resource.getrlimit(which)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(which, (most, most))
