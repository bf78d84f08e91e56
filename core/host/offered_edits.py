"""A why-question of a session, the edits that may mend what it finds, and one of them chosen."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.core.checks.why.why_answers import Explainer
from gradstep.core.debug.history.frozen_program import NamedEdit
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import CodeKind
from gradstep.core.document.named_edits import label_of
from gradstep.core.errors import GradstepError
from gradstep.core.host.edit_trials import run_by, source_of, with_remedies
from gradstep.core.program.derive import of_kind
from gradstep.core.program.gradient_context import situation_about
from gradstep.core.protocol.messages import Explanation, RemedyInfo


def explain_here(session: DebugSession, of: str, wrt: str = "") -> Explanation:
    """The value of `of`, or its gradient with respect to `wrt`, as of where the session stands,
    with the edits that may mend it. Raises GradstepError."""
    source = source_of(session)
    functions = of_kind(source.document, source.functions, CodeKind.GRADIENT)
    here, stop = situation_about(session, functions, of), session.stop
    python = session.program.functions
    explainer = Explainer(here, python, session.backend, session, stop.run, stop.step)
    found = explainer.gradient(of, wrt) if wrt else explainer.value(of)
    return with_remedies(run_by(source.document, session), found)


def edits_of(found: Explanation) -> tuple[NamedEdit, ...]:
    """Those that an answer names."""
    return tuple((one.kind, (*one.names,)) for one in found.remedies)


def choose_edit(
    found: Explanation, listed: Sequence[NamedEdit], number: int, asked: str
) -> RemedyInfo:
    """Number `number`, counted from 1, of the edits that were `listed`, as the question's answer
    has it now. asked: the question, for people. Raises GradstepError for one that is not there any
    more."""
    if not 1 <= number <= len(listed):
        raise GradstepError(
            f"why {asked} names {len(listed)} edits now, and no number {number}",
            kind="ValueError",
            hint="ask why again",
        )
    here = dict(zip(edits_of(found), found.remedies, strict=True))
    if (edit := listed[number - 1]) not in here:
        raise GradstepError(
            f"'{label_of(*edit)}' was named where the session stood before, and is not here",
            kind="ValueError",
            hint="ask why again",
        )
    return here[edit]
