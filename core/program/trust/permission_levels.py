"""What a document's Python may do here: nothing, run without network and files, or run freely."""

from __future__ import annotations

from enum import StrEnum


class Permission(StrEnum):
    """The user's answer for the Python of one document; the values are what is written down.

    REFUSED:  it does not run.
    CONFINED: it runs in an engine that has no network, no files and no secrets
    (gradstep.core.program.sandbox). FULL:     it runs with the rights of the user.
    """

    REFUSED = "refused"
    CONFINED = "confined"
    FULL = "full"

    @property
    def runs(self) -> bool:
        """Whether the Python runs at all."""
        return self is not Permission.REFUSED
