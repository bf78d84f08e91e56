"""Whose Python may run: the user's decisions, each about one program, remembered and revocable."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

import msgspec

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.program.trust.code_fingerprint import fingerprint
from gradstep.core.program.trust.example_index import EXAMPLES, ExampleEntry, load
from gradstep.core.program.trust.permission_levels import Permission
from gradstep.core.program.trust.trust_store import Decision, TrustStore, now
from gradstep.core.visible_text import writable

_DAY = len("2026-01-01")  # of a time: the use of a decision is written down once a day


def permission(document: Document) -> Permission:
    """What the document's Python may do: all where it has none or came with the program as it is,
    else what the user said of exactly this program before. See
    gradstep.core.program.trust.code_fingerprint."""
    if not document.code:
        return Permission.FULL
    try:
        program = fingerprint(document)
    except GradstepError:  # of what no file can hold nothing can be remembered
        return Permission.REFUSED
    if program in {entry.program for entry in _bundled()}:
        return Permission.FULL
    known = store().read()
    decision = known.find(program)
    if decision is None:
        return Permission.REFUSED
    if not known.damage:  # which is to be said when it is mended
        _use(decision)
    return decision.permission


def allow(
    document: Document, permission: Permission, place: str = "", instead_of: str = ""
) -> None:
    """Remember what the document's Python, called as it is now, may do; that it is refused, by
    forgetting what was said.

    place: the document's file, or what stands for one. instead_of: fingerprint of what this
    document was before the user's own edits; a decision about that at the same place goes.
    Raises GradstepError (FileError) when that cannot be written down.
    """
    program = fingerprint(document)
    if not program:
        return
    made = Decision(
        fingerprint=program,
        permission=permission,
        functions=tuple(sorted(document.code)),
        title=writable(document.title),
        place=writable(place),
        decided=now(),
        used=now(),
    )

    def changed(decisions: tuple[Decision, ...]) -> Iterable[Decision]:
        for old in decisions:
            replaced = old.fingerprint == instead_of and old.place == made.place
            if not (replaced or old.fingerprint == program):
                yield old
        if permission.runs:
            yield made

    store().change(changed)


def pass_on(before: Document, after: Document, place: str) -> None:
    """What was decided about `before` holds for `after`, which was made of it here, at the user's
    word, and is in the file `place`. Raises GradstepError (FileError)."""
    may = permission(before)
    if may.runs and after.code and fingerprint(after) != fingerprint(before):
        allow(after, may, place, fingerprint(before))


def decisions() -> tuple[Decision, ...]:
    """All that count, the last used first."""
    return tuple(sorted(store().read().decisions, key=lambda d: d.used, reverse=True))


def revoke(programs: Iterable[str]) -> None:
    """Forget what was said of programs, by fingerprint. Raises GradstepError (FileError)."""
    gone = frozenset(programs)
    store().change(lambda kept: (d for d in kept if d.fingerprint not in gone))


def set_aside_damage() -> GradstepError | None:
    """Where the list of decisions is damaged: move it out of the way, and say so, for the user to
    be told. To be asked before `permission`, which only says that nothing is trusted then."""
    try:
        return store().set_aside()
    except GradstepError as error:
        return error


def came_with_program(document: Document) -> bool:
    """Whether the document's functions are those of one of the examples, whatever calls them: how
    long they take is known. That says nothing of whether they may run."""
    return document.code_hash in {entry.code for entry in _bundled()}


def store() -> TrustStore:
    """In the user's own folder, which follows XDG_DATA_HOME."""
    import platformdirs

    return TrustStore(Path(platformdirs.user_data_path("gradstep", appauthor=False)))


def _use(decision: Decision) -> None:
    """Note that a decision is of use still: those of no use go first. Not worth any wait."""
    today = now()
    if decision.used[:_DAY] == today[:_DAY]:
        return
    used = msgspec.structs.replace(decision, used=today)
    with suppress(GradstepError):
        store().change(lambda every: (used if d == decision else d for d in every), patience=0)


@cache
def _bundled() -> tuple[ExampleEntry, ...]:
    """The examples that came with the program and have Python; none if they were lost."""
    try:
        return tuple(entry for entry in load(EXAMPLES) if entry.code)
    except GradstepError:
        return ()
