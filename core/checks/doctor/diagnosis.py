"""Looking at a document with all lints: what they find, in their order, and not too much."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice

from gradstep.core.cancellation import check_cancelled
from gradstep.core.checks.doctor.examined_document import Examined
from gradstep.core.checks.doctor.lint import Diagnosis, Finding, Lint
from gradstep.core.checks.doctor.lint_table import LINTS
from gradstep.core.errors import GradstepError, unforeseen
from gradstep.core.graph.model import Operation
from gradstep.core.graph.unlinted import is_exempt

_MOST = 12  # findings of one lint that are said


def diagnose(x: Examined, off: Collection[str] = ()) -> list[Diagnosis]:
    """What the lints find whose codes are not in `off`, but for the operations that are exempt. A
    lint that fails finds nothing, which the log says: a document is not to be opened less well for
    it. Ends with Cancelled where that is asked for."""
    found: list[Diagnosis] = []
    for lint in LINTS:
        check_cancelled()
        if lint.code not in off and (x.session is not None or not lint.subject.of_runs):
            found += [Diagnosis(lint, each) for each in islice(_found(lint, x), _MOST)]
    return found


def _found(lint: Lint, x: Examined) -> Iterator[Finding]:
    try:
        for each in lint.looks(x):
            if not is_exempt(_operation(x, each.node), lint.code):
                yield each
    except GradstepError:
        return  # of an operation that cannot be told more of, which is a problem of its own
    except Exception as error:
        unforeseen(f"the lint {lint.code} failed", error)


def _operation(x: Examined, name: str) -> Operation | None:
    return x.document.graph.operations.get(name)
