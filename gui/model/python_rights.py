"""What the open document's Python may do: as was decided, and through the user's own edits."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.program.trust import code_trust
from gradstep.core.program.trust.code_fingerprint import fingerprint
from gradstep.core.program.trust.permission_levels import Permission


class PythonRights:
    """Decisions are about a whole program, but what the user changes of it here is the user's own:
    while a document is open it is asked about its functions alone, so that no edit costs more than
    these. What it has become is written down when it is saved, in place of what it was.
    """

    def __init__(self, complain: Callable[[GradstepError], None]) -> None:
        self._complain = complain
        self._by_functions: dict[str, Permission] = {}  # hashes of code that may run, and how
        self._decided = ""  # fingerprint of the program that the last decision was about

    def open(self, document: Document) -> None:
        """It is another document; what is known of it is what was decided."""
        self._by_functions, self._decided = {}, ""
        if document.code:
            damage = code_trust.set_aside_damage()
            if damage is not None:
                self._complain(damage)
            self._take(document, code_trust.permission(document))

    def permission(self, document: Document) -> Permission:
        """Of the open document, or of what it was or will be by undo and redo."""
        if not document.code:
            return Permission.FULL
        return self._by_functions.get(document.code_hash, Permission.REFUSED)

    def edit(self, before: Document, after: Document) -> None:
        """The user changed the document. What is added to code that may run is the user's own."""
        if after.code is not before.code and after.code:
            permission = self.permission(before)
            if permission.runs:
                self._by_functions.setdefault(after.code_hash, permission)

    def decide(self, document: Document, permission: Permission, place: str) -> None:
        """The user's answer about the open document. Raises GradstepError (FileError) when it
        cannot be written down; then nothing is changed."""
        code_trust.allow(document, permission, place)
        self._by_functions = {}
        self._take(document, permission)

    def save(self, document: Document, path: Path) -> None:
        """The open document is in a file; what was edited of it goes on to be the user's own."""
        permission = self.permission(document)
        if not document.code or not permission.runs:
            return
        try:
            if fingerprint(document) != self._decided:
                code_trust.allow(document, permission, str(path), instead_of=self._decided)
                self._decided = fingerprint(document)
        except GradstepError as error:
            self._complain(error)

    def forget(self, programs: Collection[str]) -> None:
        """These decisions were revoked."""
        if self._decided in programs:
            self._by_functions, self._decided = {}, ""

    def _take(self, document: Document, permission: Permission) -> None:
        if permission.runs:
            self._by_functions[document.code_hash] = permission
            self._decided = fingerprint(document)
