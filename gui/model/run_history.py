"""Which runs the points of a curve are of: document, session, and what was done on the way."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

from gradstep.core.document.document import Document
from gradstep.gui.model.engine_sync import same_but_breakpoints

EVERY = 1 << 62  # runs: more than there ever are


@dataclass(frozen=True, eq=False)
class RunHistory:
    """document: as it is run; breakpoints change nothing of that. runs_code: whether its Python may
    run. lineage: as of Stopped. branch: what it is called; "" where there is but one."""

    document: Document
    device: str = "cpu"
    runs_code: bool = True
    session: str = ""
    lineage: tuple[tuple[int, str], ...] = ()
    branch: str = ""

    def shared(self, other: RunHistory) -> int:
        """In so many runs, from the first on, both give the same numbers; EVERY where they are one.
        Two sessions have none in common: each makes its own."""
        if self._made_by != other._made_by or not self.is_of(other.document):
            return 0
        for pair in zip_longest(self.lineage, other.lineage):
            if pair[0] != pair[1]:
                return min(part[0] for part in pair if part is not None)
        return EVERY

    def is_of(self, document: Document) -> bool:
        """Whether runs of that document are alike, as far as it is the document's doing."""
        return self.document is document or same_but_breakpoints(self.document, document)

    @property
    def _made_by(self) -> tuple[object, ...]:
        return self.session, self.device, self.runs_code
