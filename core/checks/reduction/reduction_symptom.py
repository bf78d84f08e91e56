"""What has to be seen in every smaller graph, and where a search for one begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from gradstep.core.checks.reduction.values_read import Iterations
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.protocol.messages import ComparedNode, Explanation, NodeCheck

_NONFINITE = {"nan", "inf"}

# The explanation of a document's value (wrt None) or gradient.
Asked = Callable[[Document, TensorRef, TensorRef | None], Explanation]
Checked = Callable[[Document], Sequence[NodeCheck]]  # of the gradients of a document
Compared = Callable[[Document], Sequence[ComparedNode]]  # of a document on two devices


@dataclass(frozen=True)
class Clues:
    """node: the operation where it began; told: in which iteration of the loops around it, None
    where nobody said; path: operations between there and the end; kept: that are never left out;
    asked: what a gradient is asked with respect to, where that is left out, None for anything."""

    node: str | None
    path: Sequence[str] = ()
    told: Iterations | None = ()
    kept: frozenset[str] = frozenset()
    asked: frozenset[str] | None = None

    @classmethod
    def of(cls, found: Explanation) -> Clues:
        links = [link for link in found.chain if link.node == found.node]
        return cls(found.node, found.path, links[0].iterations if links else None)


class Symptom(Protocol):
    @property
    def is_gradient(self) -> bool:
        """Of a gradient, not of a value: the smaller documents ask for gradients."""
        ...

    def ways(self) -> Sequence[Symptom]:
        """As what it may be seen, the same as here first."""
        ...

    def shows_in(self, document: Document) -> bool:
        """Whether a document that asks for one thing shows it."""
        ...


@dataclass(frozen=True)
class Explained:
    """The same state, by the same cause or operation. is_gradient: of a gradient, not of a value.
    state, cause, node: as of an Explanation. begun: NaN may have begun as an infinity, and where it
    began they are one."""

    is_gradient: bool
    state: str
    cause: str
    node: str | None
    ask: Asked
    begun: bool = False

    @classmethod
    def of(cls, found: Explanation, is_gradient: bool, ask: Asked) -> Explained:
        """Raises GradstepError for what is as it should be, and for what was not computed."""
        if found.state == "ok" or found.cause == "waiting":
            raise GradstepError(
                f"there is nothing wrong to be made smaller: {found.text}",
                kind="FailedPreconditionError",
                hint="name a value or gradient that is NaN, infinite, zero or None",
            )
        return cls(is_gradient, found.state, found.cause, found.node, ask, not is_gradient)

    def ways(self) -> Sequence[Symptom]:
        return (*dict.fromkeys((self, replace(self, begun=True))),)

    def shows_in(self, document: Document) -> bool:
        request = document.request
        ends = request.wrt if self.is_gradient else (None,)
        of = request.of[0] if self.is_gradient else document.fetches[0]
        return any(self._is(document, of, wrt) for wrt in ends)

    def _is(self, document: Document, of: TensorRef, wrt: TensorRef | None) -> bool:
        try:
            found = self.ask(document, of, wrt)
        except GradstepError:  # what was left out was needed
            return False
        begun = self.begun and {found.state, self.state} <= _NONFINITE
        same = found.cause == self.cause or (self.node is not None and found.node == self.node)
        return same and (found.state == self.state or begun)


@dataclass(frozen=True)
class WrongRule:
    """The gradient in force at an operation is not its gradient, as finite differences have it.
    gradient: its name."""

    node: str
    gradient: str
    check: Checked
    is_gradient: bool = True

    @classmethod
    def of(cls, found: NodeCheck, check: Checked) -> WrongRule:
        """Raises GradstepError for one that is right."""
        if found.agrees:
            raise GradstepError(
                f"there is nothing wrong to be made smaller: {found.text}",
                kind="FailedPreconditionError",
                node=found.node,
                hint="name an operation whose gradient differs from finite differences: "
                "gradstep check lists them",
            )
        return cls(found.node, found.gradient, check)

    def ways(self) -> Sequence[Symptom]:
        return (self,)

    def shows_in(self, document: Document) -> bool:
        try:
            found = self.check(document)
        except GradstepError:  # what was left out was needed
            return False
        return any(
            one.node == self.node and one.gradient == self.gradient and not one.agrees
            for one in found
        )


@dataclass(frozen=True)
class Difference:
    """An operation parts two devices by itself, in the same way. kind, because: as of a
    ComparedNode; fails: it does not run on one of them."""

    node: str
    kind: str
    because: str
    fails: bool
    compare: Compared
    is_gradient: bool = False

    @classmethod
    def of(cls, found: ComparedNode, compare: Compared) -> Difference:
        """Raises GradstepError for one that makes no difference by itself."""
        if not found.creates:
            why = "only carries on what others made" if found.differs else "makes no difference"
            raise GradstepError(
                f"there is nothing to be made smaller: {found.name} {why}",
                kind="FailedPreconditionError",
                node=found.name,
                hint="name no node for the first one that makes a difference by itself",
            )
        return cls(found.name, found.kind, found.because, found.verdict == "raises", compare)

    def ways(self) -> Sequence[Symptom]:
        return (self, replace(self, because="")) if self.because else (self,)

    def shows_in(self, document: Document) -> bool:
        try:
            found = self.compare(document)
        except GradstepError:  # it does not run without what was left out
            return False
        return any(map(self._is, found))

    def _is(self, one: ComparedNode) -> bool:
        same = one.name == self.node and one.creates and one.kind == self.kind
        fails = (one.verdict == "raises") == self.fails
        return same and fails and self.because in ("", one.because)
