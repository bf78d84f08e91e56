"""System calls that write, under control: the nth of them fails, kills, or is where the power goes.

What a power cut leaves is what was synced: of a file its contents at its last fsync, of a folder
the names at its last. A name that was changed since may be the old or the new one.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CALLS = (
    "open", "write", "fsync", "chmod", "fchown", "setxattr", "replace", "unlink", "ftruncate",
    "posix_fallocate", "mkdir",
)  # fmt: skip


class PowerCutError(BaseException):
    """From here on nothing happens any more."""


@contextmanager
def at_call(number: int, act: Callable[[str], None]) -> Iterator[list[str]]:
    """Within, `act(name)` is called right before the nth writing call. Gives the names of the calls
    that came."""
    calls: list[str] = []
    kept = {name: getattr(os, name) for name in CALLS if hasattr(os, name)}

    def watched(name: str) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            calls.append(name)
            if len(calls) - 1 == number:
                act(name)
            return kept[name](*args, **more)

        return call

    for name in kept:
        setattr(os, name, watched(name))
    try:
        yield calls
    finally:
        for name, call in kept.items():
            setattr(os, name, call)


class Disk:
    """Everything below `root`, as a power cut would leave it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._synced: dict[int, bytes] = {}  # inode -> contents
        self._names: dict[Path, dict[str, int]] = {}  # folder -> names on disk
        for folder in self._folders():
            self._names[folder] = self._entries(folder)
            for inode, path in ((i, folder / n) for n, i in self._names[folder].items()):
                if path.is_file():
                    self._synced[inode] = path.read_bytes()

    @contextmanager
    def cut_at(self, number: int) -> Iterator[list[str]]:
        """The power goes before the nth writing call; what that left is then `remains`."""
        calls: list[str] = []
        kept = {name: getattr(os, name) for name in CALLS if hasattr(os, name)}

        def watched(name: str) -> Callable[..., Any]:
            def call(*args: Any, **more: Any) -> Any:
                if len(calls) >= number:
                    raise PowerCutError
                calls.append(name)
                result = kept[name](*args, **more)
                if name == "fsync":
                    self._sync(args[0])
                return result

            return call

        for name in kept:
            setattr(os, name, watched(name))
        try:
            yield calls
        finally:
            for name, call in kept.items():
                setattr(os, name, call)

    def freeze(self) -> None:
        """What there is at the moment of the cut, before anything else touches it."""
        self._now = {folder: self._entries(folder) for folder in self._folders()}
        self._contents = {}
        for folder, names in self._now.items():
            for name, inode in names.items():
                if (folder / name).is_file():
                    self._contents[inode] = (folder / name).read_bytes()

    def remains(self, into: Path) -> Iterator[str]:
        """Each state that the cut may have left, made in `into` in turn, with its name."""
        names = {"names as synced": self._names, "names as changed": self._now}
        for (which, folders), torn in itertools.product(names.items(), (False, True)):
            for folder, entries in folders.items():
                place = into / folder.relative_to(self.root)
                place.mkdir(parents=True, exist_ok=True)
                for old in place.iterdir():
                    if old.is_file():
                        old.unlink()
                for name, inode in entries.items():
                    if not (self.root / folder / name).is_dir():
                        (place / name).write_bytes(self._left(inode, torn))
            yield f"{which}, {'half of what was not' if torn else 'only what was'} synced"

    def _left(self, inode: int, torn: bool) -> bytes:
        synced = self._synced.get(inode, b"")
        now = self._contents.get(inode, synced)
        half = len(now) // 2
        return now[:half] + synced[half:] if torn and now != synced else synced

    def _sync(self, handle: int) -> None:
        inode = os.fstat(handle).st_ino
        for folder in self._folders():
            if folder.stat().st_ino == inode:
                self._names[folder] = self._entries(folder)
        path = Path(os.readlink(f"/proc/self/fd/{handle}"))
        if path.is_file():
            self._synced[inode] = path.read_bytes()

    def _folders(self) -> list[Path]:
        return [self.root, *(path for path in self.root.rglob("*") if path.is_dir())]

    def _entries(self, folder: Path) -> dict[str, int]:
        return {path.name: path.stat().st_ino for path in folder.iterdir()}
