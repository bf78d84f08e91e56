"""bubblewrap: a process in namespaces of its own, in which nothing is but what it is given."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence

from gradstep.core.program.sandbox import linux_calls
from gradstep.core.program.sandbox.sandbox_profile import Access

_LONGEST = 10  # seconds
_BARE = ("--unshare-all", "--die-with-parent", "--new-session")


def program() -> str:
    """Where bwrap is; "" where it is not installed."""
    return (linux_calls.IS_LINUX and shutil.which("bwrap")) or ""


def why_not() -> str:
    """What is missing for it; "" where it works."""
    if not program():
        return "not installed"
    command = [program(), *_BARE, "--ro-bind", "/", "/", "--proc", "/proc", "true"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_LONGEST, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"it does not start ({error})"
    said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    return "" if not done.returncode else said or f"exit status {done.returncode}"


def command(argv: Sequence[str], access: Access, folder: str) -> list[str]:
    """What runs `argv` inside, in `folder`; its environment and pipes are those of the caller."""
    words = [program(), *_BARE, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
    for option, paths in (
        ("--ro-bind-try", access.read),
        ("--dev-bind-try", access.devices),
        ("--bind-try", access.write),
    ):
        for path in sorted(path for path in paths if _is_bound(path)):
            words += [option, path, path]
    return [*words, "--chdir", folder, "--", *argv]


def _is_bound(path: str) -> bool:
    """What --proc and --dev bring along is not bound again."""
    own = ("/proc/", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
    return not path.startswith(own)
