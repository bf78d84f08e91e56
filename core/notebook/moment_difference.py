"""What differs between two moments of runs, as Python shows it."""

from __future__ import annotations

from dataclasses import dataclass

from gradstep.core.protocol.messages import Comparison as Compared


@dataclass(frozen=True, repr=False)
class Comparison:
    """Two moments held against each other, to the bit; its repr is for reading.

    left, right: the moments, in a few words.
    differing: the operations whose values are others, in the order of the run.
    first: the first of them that makes a difference by itself, "" for none.
    missing: the operations that have a value at one of the moments alone.
    text:  what comes of it, in sentences.
    """

    left: str
    right: str
    differing: tuple[str, ...]
    first: str
    missing: tuple[str, ...]
    text: str

    @classmethod
    def of(cls, found: Compared) -> Comparison:
        """From what a comparison of devices has, too."""
        return cls(
            found.left,
            found.right,
            tuple(node.name for node in found.nodes if node.differs),
            found.first_divergence or "",
            tuple(node.name for node in found.nodes if node.verdict == "unavailable"),
            found.text,
        )

    def __repr__(self) -> str:
        return f"{self.right} against {self.left}: {self.text}"
