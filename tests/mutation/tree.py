"""A copy of the tree: what is mutated is never the checkout."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.unpacking import unpack

ROOT = Path(__file__).parents[2]
_LATER = (
    1000  # seconds: what Python has compiled of the module as it was must not pass for this one
)


def copy(into: Path, revision: str = "") -> None:
    """The working tree as it is, without what git ignores; or that of a revision.
    Raises LookupError for one that git does not know."""
    into.mkdir(parents=True)
    if revision:
        done = _git("archive", "--format=tar", revision)
        if done.returncode:
            raise LookupError(done.stderr.decode().strip())
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
            unpack(archive, into)
        return
    names = _git("ls-files", "--cached", "--others", "--exclude-standard", "-z").stdout
    for name in filter(None, names.decode().split("\0")):
        if (ROOT / name).is_file():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, into / name)


def commit(revision: str) -> str:
    """Its short hash; of the working tree, the one that it is based on."""
    return _git("rev-parse", "--short", revision or "HEAD").stdout.decode().strip()


@contextmanager
def mutated(path: Path, source: str) -> Iterator[None]:
    """The file with another content meanwhile."""
    before, times = path.read_bytes(), path.stat()
    try:
        path.write_text(source, "utf-8")
        os.utime(path, (times.st_atime, times.st_mtime + _LATER))
        yield
    finally:
        path.write_bytes(before)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def _git(*words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=False)
