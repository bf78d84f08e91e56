"""Edits that may mend what was explained: which there are, and what one of them would do."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from gradstep.core.checks.why.edit_trial import is_mended, try_edit
from gradstep.core.checks.why.trial_words import rows_of, words_of_trial
from gradstep.core.checks.why.why_remedies import find_remedies
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import Document
from gradstep.core.document.named_edits import edit_by_name, label_of
from gradstep.core.document.requests import every_request
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.program.edited_program import EditedPrograms
from gradstep.core.protocol.messages import Explanation, RemedyInfo, Tried, TriedRow, TryEdit

Subject = tuple[TensorRef, Sequence[TensorRef]]  # a loss, and with respect to what


def with_remedies(document: Document, found: Explanation) -> Explanation:
    """With the edits that may mend it."""
    edits = [] if found.state == "ok" and not found.cause else find_remedies(document, found)
    infos = [RemedyInfo(kind=k, names=[*names], label=label_of(k, names)) for k, names in edits]
    return structs.replace(found, remedies=infos)


def try_remedy(session: DebugSession, document: Document, request: TryEdit) -> Tried:
    """What the run in which the session stands would be. Raises GradstepError."""
    here = run_by(document, session)
    of, wrt = _subject(here, request.of, request.wrt, request.names)
    about: TensorRef | None = None
    if of.op not in session.program.graph:
        raise GradstepError(f"no operation named '{of.op}'", kind="KeyError", node=of.op)
    if request.of and not request.wrt and (found := _loss_behind(here, of, request.names)):
        about = None if of == found[0] else of  # what comes of it is seen in what is trained
        of, wrt = found
    trial = try_edit(session, (request.kind, (*request.names,)), of, wrt, about)
    return Tried(
        label=label_of(request.kind, request.names),
        text=words_of_trial(trial),
        mends=is_mended(trial.before, trial.after),
        rows=[TriedRow(what=w, before=b, after=a) for w, b, a in rows_of(trial)],
    )


def source_of(session: DebugSession) -> EditedPrograms:
    """The document that the session's program was derived from. Raises GradstepError where there is
    none."""
    source = session.branches.programs.own.program.edited
    if not isinstance(source, EditedPrograms):
        raise GradstepError("this program has no document", kind="FailedPreconditionError")
    return source


def run_by(document: Document, session: DebugSession) -> Document:
    """The document as the branch that is shown runs it: with the edits that are tried there."""
    for edit in session.branches.edits:
        document = edit_by_name(document, edit.kind, edit.names)
    return document


def _subject(document: Document, of: str, wrt: Sequence[str], names: Sequence[str]) -> Subject:
    """What is looked at; where nothing is named, the first loss that the edit has to do with.
    Raises GradstepError where nothing is differentiated, either."""
    if of:
        return TensorRef.parse(of), [TensorRef.parse(name) for name in wrt]
    asked = [request for request in every_request(document) if request.of]
    if not asked:
        raise GradstepError(
            "nothing is differentiated, so an edit has no effect that could be measured",
            kind="FailedPreconditionError",
            hint="name a tensor, or choose a loss (Graph > Differentiate)",
        )
    return _touched(document, names) or (asked[0].of[0], asked[0].wrt)


def _touched(document: Document, names: Sequence[str]) -> Subject | None:
    """The first loss that an edit of these has to do with."""
    graph, touched = document.graph, {_operation(name) for name in names}
    for request in every_request(document):
        for y in request.of:
            behind = graph.ancestors([y.op]) if y.op in graph else frozenset()
            if not touched.isdisjoint({*behind, y.op}):
                return y, [x for x in request.wrt if x.op in behind]
    return None


def _loss_behind(document: Document, of: TensorRef, names: Sequence[str]) -> Subject | None:
    """That, where a value that was asked about leads to it or is it."""
    found = _touched(document, names)
    if found is None or found[0].op not in document.graph:
        return None
    leads = of == found[0] or of.op in document.graph.ancestors([found[0].op])
    return found if leads else None


def _operation(name: str) -> str:
    """Of an operation, a tensor or a wire."""
    return name.partition("<")[0].partition(":")[0]
