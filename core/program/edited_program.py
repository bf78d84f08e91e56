"""A program after edits of the document that it was derived from, as branches run it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np

from gradstep.core.debug.history.frozen_program import NamedEdit, Program
from gradstep.core.debug.history.manual_assignments import fitting
from gradstep.core.document.document import Document
from gradstep.core.document.named_edits import edit_by_name
from gradstep.core.errors import GradstepError
from gradstep.core.program.runnable_part import drop_unfinished
from gradstep.core.program.user_code import Function
from gradstep.core.train.optimizers import complete
from gradstep.core.train.training_settings import read_settings


@dataclass(frozen=True, eq=False)
class EditedPrograms:
    """Makes them. functions: the document's Python, as far as it may run; derive: as of
    gradstep.core.program.derive, which is above this. initial: what variables begin with, over the
    document's, as far as it fits them after the edits."""

    document: Document
    functions: Mapping[str, Function]
    derive: Callable[..., Program]
    initial: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __call__(self, program: Program, edits: Sequence[NamedEdit]) -> Program:
        """`program`, which the document gave, after the edits. Raises GradstepError for one that
        cannot be made, or changes nothing."""
        document = self.document
        for kind, names in edits:
            before, document = document, edit_by_name(document, kind, names)
            if document is before or _is_same(document, before):
                raise GradstepError(
                    "it is so already: a branch with that edit would be the same again",
                    kind="ValueError",
                    hint="choose another edit, or give a value: inject",
                )
        _require_settings(document, self.document)
        made = drop_unfinished(self.derive(document, self.functions, previous=program))
        _require_derived(made, program)
        begun = self._begun(document)
        begun = fitting(made.graph, begun) if begun else begun
        return replace(made, initial={**made.initial, **begun}) if begun else made

    def _begun(self, document: Document) -> Mapping[str, np.ndarray]:
        """Those of `initial` that the edits of the document gave nothing else to begin with."""
        given, own = document.initial, self.document.initial
        return {n: v for n, v in self.initial.items() if given.get(n) is own.get(n)}


def _require_derived(made: Program, before: Program) -> None:
    """Raise GradstepError where an edit takes gradients away, by a gradient that there is not."""
    known = {(problem.code, problem.text) for problem in before.problems}
    for problem in made.problems:
        if problem.code in _BROKEN and (problem.code, problem.text) not in known:
            raise GradstepError(
                problem.text, kind="ValueError", node=problem.node, hint=problem.fix
            )


def _require_settings(document: Document, before: Document) -> None:
    """Raise GradstepError where an edit gives an optimizer a setting that it cannot have."""
    for optimizer in document.optimizers:
        if not any(optimizer is each for each in before.optimizers):
            complete(optimizer.type, optimizer.hyper)
            read_settings(optimizer.schedule, optimizer.clip, optimizer.decay)


_BROKEN = ("unregistered-gradient", "gradient")


def _is_same(document: Document, before: Document) -> bool:
    """Whether nothing is another one."""
    graph = document.graph.operations == before.graph.operations
    return graph and all(
        getattr(document, each.name) == getattr(before, each.name)
        for each in fields(Document)
        if each.name != "graph"
    )
