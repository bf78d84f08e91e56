"""The answer to a why-question, as Python shows it."""

from __future__ import annotations

from dataclasses import dataclass

from gradstep.core.host.explained_runs import explanation_text
from gradstep.core.protocol.messages import Explanation as Answer


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why a value or a gradient is as it is; its repr is for reading.

    state: "none", "zero", "nan", "inf" or "ok".
    cause: a stable word for the reason ("unconnected", "stopped", "not_differentiable"…), "" for
           none.
    node:  the operation at which it happens, or None; index: the element there, or None.
    path:  operations from what is explained back to `node`, or to `wrt`.
    text:  what it is, why, and what to do.
    """

    state: str
    cause: str
    node: str | None
    index: tuple[int, ...] | None
    path: tuple[str, ...]
    text: str
    _shown: str

    @classmethod
    def of(cls, answer: Answer) -> Explanation:
        """From what the explainer answers."""
        index = None if answer.index is None else tuple(answer.index)
        shown = explanation_text(answer)
        path = tuple(answer.path)
        return cls(answer.state, answer.cause, answer.node, index, path, answer.text, shown)

    def __repr__(self) -> str:
        return self._shown
