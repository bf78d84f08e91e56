"""Confining a process, for good: what it can no longer reach, and by which mechanism.

Each mechanism does what it can, on top of the others:

    files       Landlock: what Python and Gradstep consist of can be read, one temporary folder can
                be written. In bubblewrap nothing else is even there.
    network     seccomp: no socket can be made. Landlock from ABI 4 on: no TCP. In bubblewrap there
                is no interface.
    processes   seccomp: nothing can be started, signalled or traced. In bubblewrap others are not
                even seen.
    secrets     the environment holds what `sandbox_environment.kept` names, and nothing else.
    resources   limits of memory, of a file's size, no core files; no_new_privs.

Not kept away: that a file exists and its size can be found out by its path where there is no
bubblewrap; time and processor are not limited (Restart engine ends it); what runs in the process
can send any answer to the window, which reads it as a stranger's.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Collection, Iterable
from pathlib import Path

from gradstep.core.errors import GradstepError
from gradstep.core.program.sandbox import (
    bubblewrap,
    landlock,
    linux_calls,
    resource_limits,
    seccomp,
)
from gradstep.core.program.sandbox.sandbox_environment import ensure_clean, forget
from gradstep.core.program.sandbox.sandbox_profile import (
    ROOT,
    Access,
    Profile,
    access,
    engine_profile,
)

LANDLOCK, SECCOMP, BUBBLEWRAP = "landlock", "seccomp", "bubblewrap"
_INSIDE = "GRADSTEP_INSIDE_BUBBLEWRAP"
_confined = False


def is_confined() -> bool:
    """Whether this process is."""
    return _confined


def is_inside() -> bool:
    """Whether this process has begun anew in bubblewrap, as `close_door` does it."""
    return bool(os.environ.get(_INSIDE))


def why_not() -> str:
    """Why nothing can be confined on this machine; "" where it can."""
    reason = _why_not_from_within()
    if reason and not is_inside() and bubblewrap.why_not():
        return f"{reason}; and bubblewrap: {bubblewrap.why_not()}"
    return ""


def _why_not_from_within() -> str:
    """The same of a process that cannot begin anew."""
    if not linux_calls.IS_LINUX:
        return "this system has nothing for it that Gradstep knows how to use"
    if not landlock.abi():
        return "the kernel has no Landlock (Linux 5.13 or later)"
    return seccomp.why_not()


def confine(profile: Profile, read: Iterable[str] = (), write: Iterable[str] = ()) -> None:
    """Keep this process to what `profile` needs, and to the files and folders that are named
    besides, for good. Call it before there are threads, and before a foreign byte is read. What
    the process was started with stays in its memory: start it with `kept(os.environ)`. Raises
    GradstepError (UnavailableError) where that cannot be done, or not whole."""
    reason = _why_not_from_within()
    if reason:
        raise _cannot(reason)
    forget()
    wall_in(profile, access(profile, "", read, write), mechanisms())


def enter() -> Path:
    """The first half, for a process that was just started by its command line: empties the
    environment, for which it may begin anew, and makes the one folder that can be written. Returns
    the folder, which is to be removed in the end."""
    if reason := why_not():
        raise _cannot(reason)
    ensure_clean()
    if engine_profile() is Profile.GPU:
        os.environ["CUPY_CACHE_DIR"] = str(_kernels())
    temporary = tempfile.mkdtemp(prefix="gradstep-")
    os.environ.update(HOME=temporary, TMPDIR=temporary)
    tempfile.tempdir = None  # it is asked for anew
    return Path(temporary)


def close_door() -> None:
    """The second half, in the process that will run user code. Where bubblewrap works it begins
    anew in there."""
    profile = engine_profile()
    kernels = [os.environ["CUPY_CACHE_DIR"]] if profile is Profile.GPU else []
    allowed = access(profile, os.environ["TMPDIR"], write=kernels)
    if not is_inside() and not bubblewrap.why_not():
        os.environ[_INSIDE] = "1"
        argv = [sys.executable, *sys.orig_argv[1:]]
        os.execv(bubblewrap.program(), bubblewrap.command(argv, allowed, str(ROOT)))
    wall_in(profile, allowed, mechanisms())


def _kernels() -> Path:
    """Where compiled GPU kernels are kept that confined code may have changed."""
    import platformdirs

    folder = platformdirs.user_cache_path("gradstep", appauthor=False) / "confined-kernels"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def mechanisms() -> frozenset[str]:
    """What can be put in force from within a process here."""
    found = {LANDLOCK} if landlock.abi() else set()
    return frozenset(found if seccomp.why_not() else {*found, SECCOMP})


def wall_in(profile: Profile, allowed: Access, by: Collection[str]) -> None:
    """Put these mechanisms in force, and the limits."""
    global _confined
    if len(os.listdir("/proc/self/task")) > 1:
        raise _cannot("it has threads already, which would stay outside")
    try:
        resource_limits.restrict(profile)
        if LANDLOCK in by:
            landlock.restrict(allowed)
        if SECCOMP in by:
            seccomp.restrict()
    except OSError as error:
        raise _cannot(f"{error}") from error
    _confined = True


def _cannot(reason: str) -> GradstepError:
    return GradstepError(
        f"this process cannot be kept from network and files: {reason}",
        kind="UnavailableError",
        hint="gradstep doctor says what this machine lacks for it",
    )
