"""What a fix that was tried does, as Python shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gradstep.core.protocol.messages import Tried


@dataclass(frozen=True, repr=False)
class Trial:
    """The run that is looked at, with a fix and without; its repr is for reading.

    label: the fix.
    mends: whether what was wrong is not so any more.
    rows:  each measure (loss, norm of the gradient…), as it is and with the fix, as texts.
    text:  what it does, in a sentence.
    """

    label: str
    mends: bool
    rows: Mapping[str, tuple[str, str]]
    text: str

    @classmethod
    def of(cls, tried: Tried) -> Trial:
        """From what the engine answers."""
        rows = {row.what: (row.before, row.after) for row in tried.rows}
        return cls(tried.label, tried.mends, rows, tried.text)

    def __repr__(self) -> str:
        lines = [f"  {what}: {old} → {new}" for what, (old, new) in self.rows.items()]
        return "\n".join([f"{self.label}. {self.text}", *lines])
