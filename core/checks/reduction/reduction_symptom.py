"""What has to be seen in every smaller graph: the same state, by the same cause or operation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.protocol.messages import Explanation

_NONFINITE = {"nan", "inf"}

# The explanation of a document's value (wrt None) or gradient.
Asked = Callable[[Document, TensorRef, TensorRef | None], Explanation]


@dataclass(frozen=True)
class Symptom:
    """is_gradient: of a gradient, not of a value. state, cause, node: as of an Explanation. begun:
    NaN may have begun as an infinity, and where it began they are one."""

    is_gradient: bool
    state: str
    cause: str
    node: str | None
    begun: bool = False

    @classmethod
    def of(cls, found: Explanation, is_gradient: bool) -> Symptom:
        """Raises GradstepError for what is as it should be, and for what was not computed."""
        if found.state == "ok" or found.cause == "waiting":
            raise GradstepError(
                f"there is nothing wrong to be made smaller: {found.text}",
                kind="FailedPreconditionError",
                hint="name a value or gradient that is NaN, infinite, zero or None",
            )
        return cls(is_gradient, found.state, found.cause, found.node, begun=not is_gradient)

    def shows_in(self, document: Document, ask: Asked) -> bool:
        """Whether a document that asks for one thing shows it."""
        request = document.request
        ends = request.wrt if self.is_gradient else (None,)
        of = request.of[0] if self.is_gradient else document.fetches[0]
        return any(self._is(document, of, wrt, ask) for wrt in ends)

    def _is(self, document: Document, of: TensorRef, wrt: TensorRef | None, ask: Asked) -> bool:
        try:
            found = ask(document, of, wrt)
        except GradstepError:  # what was left out was needed
            return False
        begun = self.begun and {found.state, self.state} <= _NONFINITE
        same = found.cause == self.cause or (self.node is not None and found.node == self.node)
        return same and (found.state == self.state or begun)
