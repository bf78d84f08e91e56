"""What a document says of the gradients of its first run, where that holds: its known causes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gradstep.core.checks.expectations.expectation_runs import check_expectations
from gradstep.core.checks.gradients.check_conclusion import Known
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.document.document import Document
from gradstep.core.document.expectation import Variation
from gradstep.core.engine.backend import Backend
from gradstep.core.program.user_code import Function


def find_known(
    document: Document,
    functions: Mapping[str, Function],
    open_backend: Callable[[str], Backend],
    program: Program | None = None,
) -> Known:
    """Of the expectations about the first run as the document stands, which is run for it where
    there are any. functions: its custom Python by name; program: as `known` of
    `check_expectations`."""
    said = tuple(e for e in document.expectations if e.run == 0 and e.when == Variation())
    if not said:
        return Known()
    asked = document.with_(expectations=said)
    return Known.of(said, check_expectations(asked, functions, open_backend, program))
