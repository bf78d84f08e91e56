"""Files put into folders of the user's, with the record by which they are taken away again.

Those and no others, and none that somebody changed.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.atomic_write import replace_file
from gradstep.core.json_text import UNREADABLE

_CHANGED = "it was changed since"


class _Record(msgspec.Struct):
    """files: path -> SHA-256 of what was written there, "" while it is being written. folders:
    those that were made for them, outermost first."""

    version: int = 1
    files: dict[str, str] = {}
    folders: list[str] = []


class WrittenFiles:
    """The files of the record that is kept at `path`. Raises GradstepError (FileError) where that
    cannot be read or written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._record = _read(path)

    @property
    def folders(self) -> list[Path]:
        """Those that were made, innermost first."""
        return [Path(folder) for folder in reversed(self._record.folders)]

    def put(self, files: Mapping[Path, bytes]) -> list[Path]:
        """Write those that differ from what is there; these. Raises GradstepError, with nothing
        written, where another's file is in the way."""
        for path, data in files.items():
            if self._is_anothers(path, data):
                raise GradstepError(
                    f"{path} is there, and is not as Gradstep writes it",
                    kind="FileError",
                    hint="move it away, then try again",
                )
        due = [path for path, data in files.items() if _content(path) != data]
        self._make_folders(path.parent for path in due)
        self._record.files |= {str(path): "" for path in due}
        self._keep()
        for path in due:
            replace_file(path, files[path])
        ours = self._record.files
        ours |= {str(path): _digest(data) for path, data in files.items() if str(path) in ours}
        self._keep()
        return due

    def remove(self, but: Iterable[Path] = ()) -> tuple[list[Path], dict[Path, str]]:
        """Take away all that was written, `but` these: what went, and what could not go -> why."""
        kept = {str(path) for path in but}
        gone, left = [], {}
        for name, digest in [*self._record.files.items()]:
            path = Path(name)
            if name in kept:
                continue
            why = _why_not_removed(path, digest)
            if why is None:
                gone.append(path)
            elif why:
                left[path] = why
                continue
            del self._record.files[name]
        return gone, left

    def forget_folders(self) -> None:
        """Take away the folders that were made and are empty, and the record where it is, too."""
        if not self._record.files:
            with suppress(OSError):
                self.path.unlink()
                self.path.parent.rmdir()
        for folder in self.folders:
            with suppress(OSError):
                folder.rmdir()
        self._record.folders = [name for name in self._record.folders if os.path.isdir(name)]
        if self._record.files:
            self._keep()

    def _is_anothers(self, path: Path, data: bytes) -> bool:
        there, known = _content(path), self._record.files.get(str(path))
        return there not in (None, data) and known not in ("", _digest(there or b""))

    def _make_folders(self, folders: Iterable[Path]) -> None:
        for folder in folders:
            missing = [each for each in (folder, *folder.parents) if not each.exists()]
            self._record.folders += [str(each) for each in reversed(missing)]
            _make(folder)

    def _keep(self) -> None:
        _make(self.path.parent)
        replace_file(self.path, msgspec.json.format(msgspec.json.encode(self._record)))


def _read(path: Path) -> _Record:
    data = _content(path)
    try:
        return _Record() if data is None else msgspec.json.decode(data, type=_Record)
    except UNREADABLE:
        raise GradstepError(
            f"{path}, which lists what was installed, is damaged",
            kind="FileError",
            hint="remove it, and what is called gradstep.* in the folders beside its own",
        ) from None


def _content(path: Path) -> bytes | None:
    """None where there is no file. Raises GradstepError (FileError) for what cannot be read."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _failed("read", path, error) from None


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _failed("make", folder, error) from None


def _why_not_removed(path: Path, digest: str) -> str | None:
    """None: it is removed now. "": it was not there. Else why it is still there."""
    try:
        if digest not in ("", _digest(path.read_bytes())):
            return _CHANGED
        path.unlink()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        return error.strerror or type(error).__name__
    return None


def _failed(verb: str, path: Path, error: OSError) -> GradstepError:
    why = error.strerror or type(error).__name__
    return GradstepError(
        f"cannot {verb} {path}: {why}", kind="FileError", hint="check whose it is, and its folder"
    )


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
