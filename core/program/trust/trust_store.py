"""The file of the user's decisions about documents' Python.

Signed with a secret, capped, locked, and set aside where it is damaged.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.atomic_write import replace_file
from gradstep.core.io.disk.file_lock import PATIENCE, lock_file
from gradstep.core.json_text import UNREADABLE
from gradstep.core.program.trust.permission_levels import Permission

MOST = 500  # decisions that are kept
_VERSION = 2  # 1 was a list of hashes of functions, whatever called them
_SECRET = 32  # bytes
_DAMAGED = "trusted.damaged-"


class Decision(msgspec.Struct, frozen=True):
    """What the user said of one program.

    fingerprint:   of the document; see gradstep.core.program.trust.code_fingerprint.
    permission:    what its Python may do.
    functions:     their names.
    title, place:  of the document then; place is its file, or what stood for one.
    decided, used: when it was said, and when the document was last opened: ISO 8601, UTC.
    """

    fingerprint: str
    permission: Permission
    functions: tuple[str, ...] = ()
    title: str = ""
    place: str = ""
    decided: str = ""
    used: str = ""


class _Signed(msgspec.Struct, frozen=True):
    """A decision, and the proof that it was made here: an HMAC-SHA256 (hex) with the secret."""

    decision: Decision
    mac: str


class _File(msgspec.Struct, frozen=True):
    version: int
    decisions: list[_Signed]


@dataclass(frozen=True)
class Contents:
    """The decisions that count, the last used last; and why others that the file may hold do not:
    "" where all is well."""

    decisions: tuple[Decision, ...] = ()
    damage: str = ""

    def find(self, fingerprint: str) -> Decision | None:
        """What was said of a program, if anything was."""
        found = (d for d in self.decisions if d.fingerprint == fingerprint)
        return next(found, None)


class TrustStore:
    """The decisions in a folder of the user's. Each writing call reads them anew, under a lock
    that all processes keep."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.path = folder / "trusted.json"
        self._secret = folder / "trusted.key"

    def read(self) -> Contents:
        """What is there. Changes nothing; a damaged file trusts only what is still proven."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return Contents()
        except OSError as error:
            return Contents(damage=f"it cannot be read ({error.strerror})")
        try:
            version = msgspec.json.decode(data, type=_Version).version
            if version != _VERSION:
                return Contents(damage=_OTHER)
            signed = msgspec.json.decode(data, type=_File).decisions
        except UNREADABLE:
            return Contents(damage="it is damaged")
        return self._proven(signed)

    def change(
        self, by: Callable[[tuple[Decision, ...]], Iterable[Decision]], patience: float = PATIENCE
    ) -> None:
        """Write what `by` makes of the decisions. Raises GradstepError (FileError) when that cannot
        be written down, and, after setting it aside, when the file was damaged: then nothing was
        decided, and the user ought to know before he decides again."""
        with self._locked(patience):
            damage = self._set_aside()
            if damage is not None:
                raise damage
            before = self.read().decisions
            after = tuple(by(before))
            if after != before:
                self._write(after)

    def set_aside(self) -> GradstepError | None:
        """Move a damaged file out of the way, keep what is proven, and say so; None where there is
        nothing to say. Raises GradstepError (FileError) when that cannot be done."""
        if not self.read().damage:
            return None
        with self._locked():
            return self._set_aside()

    def damaged(self) -> list[Path]:
        """Files that were set aside, the latest first."""
        return sorted(self._folder.glob(f"{_DAMAGED}*.json"), reverse=True)

    # -- inside ---------------------------------------------------------------------------------

    @contextmanager
    def _locked(self, patience: float = PATIENCE) -> Iterator[None]:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise GradstepError(
                f"decisions about Python cannot be kept in {self._folder}: {error.strerror}",
                kind="FileError",
                hint=f"make {self._folder.parent} writable",
            ) from error
        with lock_file(self._folder / "trusted.lock", patience):
            yield

    def _set_aside(self) -> GradstepError | None:
        found = self.read()
        if not found.damage:
            return None
        aside = self._folder / f"{_DAMAGED}{datetime.now():%Y%m%d-%H%M%S-%f}.json"
        try:
            self.path.replace(aside)
        except OSError as error:
            raise GradstepError(
                f"{self.path} is of no use ({found.damage}) and cannot be moved: {error.strerror}",
                kind="FileError",
                hint="move it away",
            ) from None
        if found.decisions:
            self._write(found.decisions)
        kept = f"; {len(found.decisions)} decisions still count" if found.decisions else ""
        return GradstepError(
            f"the list of trusted code does not count: {found.damage}; it was set aside as "
            f"{aside}{kept}",
            kind="FileError",
            hint="what is not in it any more will be asked about again",
        )

    def _write(self, decisions: Iterable[Decision]) -> None:
        kept = sorted(decisions, key=lambda d: (d.used, d.decided))[-MOST:]
        secret = self._own_secret()
        signed = [_Signed(d, _mac(secret, d)) for d in kept]
        data = msgspec.json.format(msgspec.json.encode(_File(_VERSION, signed)), indent=1)
        replace_file(self.path, data)
        self.path.chmod(0o600)  # it tells where the user's documents are

    def _proven(self, signed: Iterable[_Signed]) -> Contents:
        secret, every = self._read_secret(), list(signed)
        if every and secret is None:
            return Contents(damage=f"its key, {self._secret}, is missing or damaged")
        proven = tuple(
            s.decision for s in every if hmac.compare_digest(s.mac, _mac(secret or b"", s.decision))
        )
        missing = len(every) - len(proven)
        return Contents(proven, f"{missing} of its entries were not made here" if missing else "")

    def _read_secret(self) -> bytes | None:
        try:
            found = bytes.fromhex(self._secret.read_text(encoding="ascii"))
        except (OSError, ValueError):
            return None
        return found if len(found) == _SECRET else None

    def _own_secret(self) -> bytes:
        """The user's secret, made when it is first needed; nobody else may read it."""
        found = self._read_secret()
        if found is None:
            found = secrets.token_bytes(_SECRET)
            try:
                self._secret.unlink(missing_ok=True)
                handle = os.open(self._secret, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(handle, "w", encoding="ascii") as file:
                    file.write(found.hex())
            except OSError as error:
                raise GradstepError(
                    f"the key of the list of trusted code cannot be written: {error.strerror}",
                    kind="FileError",
                    hint=f"make {self._folder} writable",
                ) from None
        return found


class _Version(msgspec.Struct):
    version: int = 1


_OTHER = "another version of Gradstep wrote it"


def _mac(secret: bytes, decision: Decision) -> str:
    return hmac.new(secret, msgspec.json.encode(decision), hashlib.sha256).hexdigest()


def now() -> str:
    """The time, as decisions bear it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
