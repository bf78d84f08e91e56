"""A program after edits of the document that it was derived from, as branches run it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields

from gradstep.core.debug.history.frozen_program import NamedEdit, Program
from gradstep.core.document.document import Document
from gradstep.core.document.named_edits import edit_by_name
from gradstep.core.errors import GradstepError
from gradstep.core.program.runnable_part import drop_unfinished
from gradstep.core.program.user_code import Function


@dataclass(frozen=True, eq=False)
class EditedPrograms:
    """Makes them. functions: the document's Python, as far as it may run; derive: as of
    gradstep.core.program.derive, which is above this."""

    document: Document
    functions: Mapping[str, Function]
    derive: Callable[..., Program]

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
        made = drop_unfinished(self.derive(document, self.functions, previous=program))
        _require_derived(made, program)
        return made


def _require_derived(made: Program, before: Program) -> None:
    """Raise GradstepError where an edit takes gradients away, by a gradient that there is not."""
    known = {(problem.code, problem.text) for problem in before.problems}
    for problem in made.problems:
        if problem.code in _BROKEN and (problem.code, problem.text) not in known:
            raise GradstepError(
                problem.text, kind="ValueError", node=problem.node, hint=problem.fix
            )


_BROKEN = ("unregistered-gradient", "gradient")


def _is_same(document: Document, before: Document) -> bool:
    """Whether nothing is another one."""
    graph = document.graph is before.graph or document.graph == before.graph
    return graph and all(
        getattr(document, each.name) == getattr(before, each.name)
        for each in fields(Document)
        if each.name != "graph"
    )
