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
    fixes: the edits that may mend it, the best first; Debugger.try_fix and take_fix take their
           numbers, from 1.
    """

    state: str
    cause: str
    node: str | None
    index: tuple[int, ...] | None
    path: tuple[str, ...]
    text: str
    _shown: str
    fixes: tuple[str, ...] = ()

    @classmethod
    def of(cls, answer: Answer) -> Explanation:
        """From what the explainer answers."""
        fixes = tuple(one.label for one in answer.remedies)
        index = None if answer.index is None else tuple(answer.index)
        shown = explanation_text(answer)
        path = tuple(answer.path)
        shown += "".join(f"\n  fix {number}: {label}" for number, label in enumerate(fixes, 1))
        said = answer.state, answer.cause, answer.node, index, path, answer.text
        return cls(*said, shown, fixes)

    def __repr__(self) -> str:
        return self._shown
