"""Python functions that the graph calls and nobody has written."""

from __future__ import annotations

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.document.document import CodeKind, Document
from gradstep.core.document.required_python import Asked, missing_code
from gradstep.core.graph.problems import Problem
from gradstep.core.graph.suggestions import did_you_mean, near


def find_missing_functions(document: Document) -> list[Asked]:
    """What the graph asks for, the document does not have, and a run or a gradient may need: no
    gradients while all that there are stand in the graph already."""
    made = bool(document.imported) and not document.request.of
    asked = missing_code(document)
    return [a for a in asked if a.kind is CodeKind.PYFUNC or not made]


def uncallable(program: Program, document: Document) -> list[Problem]:
    """A problem at each operation whose Python function is not there: an error where a run comes
    to it."""
    functions = [a for a in find_missing_functions(document) if a.kind is CodeKind.PYFUNC]
    if not functions:
        return []
    ends = [*(ref.op for ref in program.fetches), *program.targets]
    needed = program.graph.ancestors(ends)
    return [
        Problem(
            node,
            "missing-python",
            f"it calls the Python function '{asked.name}', which is not here",
            did_you_mean(near(asked.name, program.functions)) or to_write(asked.head),
            "error" if node in needed else "warning",
        )
        for asked in functions
        for node in asked.nodes
    ]


def to_write(head: str) -> str:
    """What to do about a function that is missing."""
    return f"write '{head.rstrip(':')}', by Edit Python… or in a file for --code"
