"""The weights whose gradient is another than what was recorded of it, as problems of a check."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.checks.gradients.gradient_scale import GradientScales
from gradstep.core.checks.gradients.gradient_sentences import EXPECTED
from gradstep.core.checks.gradients.recorded_tolerance import recorded_allowance, recorded_error
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.recorded_run import RecordedRun
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.foreign_origin import OWN_GRADIENT
from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.number_kinds import widened
from gradstep.core.graph.problems import RECORDED_GRADIENT, Problem, Severity
from gradstep.core.name_list import name_list
from gradstep.core.program.recorded_remarks import TO_COMPARE

_NAMED = 3  # weights, in a sentence


def recorded_disagreement(program: Program, expected: Collection[str] = ()) -> list[Problem]:
    """Of what is differentiated as it was recorded: an error for each weight with another gradient
    than there, beyond what two frameworks may be apart. One run, on this processor. Where the loss
    is another number, all else may be, too: that is said, and no more. expected: tensors whose
    gradient the document says, as it is. Empty where nothing is known, where gradients are bent on
    purpose, by stops and overrides, and where the program does not run."""
    recorded, request = program.recorded, program.request
    told = recorded is not None and (recorded.gradients or recorded.none)
    if recorded is None or not told or request.grad_ys:
        return []
    if tuple(map(str, request.of)) != (recorded.of,) or _is_bent(request):
        return []
    try:
        with np.errstate(all="ignore"):
            found, loss = _run(program)
    except GradstepError:
        return []  # which is a problem of its own
    kept = recorded.values.get(recorded.of)
    if kept is not None and _differs(loss, kept.array, recorded):
        return [_other_numbers(recorded, loss, kept.array)]
    return [*_apart(program, recorded, found, expected)]


def _is_bent(request: GradientRequest) -> bool:
    """Whether gradients are others on purpose: a user's stops, and overrides but for those that are
    what was recorded, a backward of the model's own."""
    overrides = (o for o in request.overrides if o.enabled and not o.target.endswith(OWN_GRADIENT))
    return bool(request.stops or request.stopped_edges or any(overrides))


def _run(program: Program) -> tuple[dict[TensorRef, np.ndarray | None], np.ndarray]:
    """The gradients of what is asked for, and what is differentiated."""
    there = {ref: g for ref in program.request.wrt if (g := program.gradients.get(ref)) is not None}
    session = Session(program.graph, functions=program.functions, initial=program.initial)
    feeds = {str(ref): array for ref, array in program.feeds.items()}
    loss, *values = session.run([program.request.of[0], *there.values()], feeds)
    known = dict(zip(there, values, strict=True))
    return {ref: known.get(ref) for ref in program.request.wrt}, loss


def _apart(
    program: Program,
    recorded: RecordedRun,
    found: Mapping[TensorRef, np.ndarray | None],
    expected: Collection[str],
) -> Iterator[Problem]:
    scales = GradientScales(program.forward, recorded)
    for ref, own in found.items():
        constant = recorded.gradients.get(str(ref))
        wanted = None if constant is None else constant.array
        if wanted is None and str(ref) not in recorded.none:
            continue  # nothing is known of it
        if own is None or wanted is None:
            differs = any(one is not None and np.any(one) for one in (own, wanted))
        else:
            differs = _differs(own, wanted, recorded, scales.of(ref))
        if differs:
            remark = recorded.remarks.get(ref.op, "")
            cause = f": {remark}" if remark else ""
            text = (
                f"its gradient is {_size(own)} here, and {_size(wanted)} as {recorded.source} "
                f"recorded it{_between(own, wanted)}{cause}"
            )
            severity: Severity = "error"
            if ref.short in expected:
                severity, text = "warning", f"{text}{EXPECTED}"
            yield Problem(ref.op, RECORDED_GRADIENT, text, TO_COMPARE, severity)


def _differs(
    own: np.ndarray, wanted: np.ndarray, recorded: RecordedRun, scale: float = 0.0
) -> bool:
    return recorded_error(own, wanted, scale) > recorded_allowance(wanted, recorded.epsilon)


def _other_numbers(recorded: RecordedRun, loss: np.ndarray, wanted: np.ndarray) -> Problem:
    text = (
        f"it is {_number(loss)} here, and was {_number(wanted)} as {recorded.source} recorded it: "
        "the gradients that were recorded are of other numbers, and are not held against these"
    )
    return Problem(
        TensorRef.parse(recorded.of).op, RECORDED_GRADIENT, text, TO_COMPARE, severity="warning"
    )


def _size(gradient: np.ndarray | None) -> str:
    return "None" if gradient is None else f"of norm {_norm(gradient)}"


def _between(own: np.ndarray | None, wanted: np.ndarray | None) -> str:
    """The norm of the difference, which two of one norm have as well."""
    if own is None or wanted is None or own.shape != wanted.shape:
        return ""
    return f" (apart by {_norm(np.subtract(widened(own), widened(wanted)))})"


def _norm(array: np.ndarray) -> str:
    return f"{np.linalg.norm(widened(array).ravel()):.4g}"


def _number(loss: np.ndarray) -> str:
    """A loss may have elements: then it is their norm."""
    return f"{widened(loss).item():.7g}" if loss.size == 1 else f"of norm {_norm(loss)}"


def disagreement_sentences(found: Sequence[Problem]) -> list[str]:
    """What `recorded_disagreement` found, beside what differences say."""
    wrong = [problem.node for problem in found if problem.severity == "error"]
    others = [f"{p.node}: {p.text}." for p in found if p.severity != "error"]
    if not wrong:
        return others
    one = len(wrong) == 1
    return [
        f"The gradient{'' if one else 's'} of {name_list(wrong, _NAMED)} {'is' if one else 'are'} "
        "not what was recorded: Device diff, with recorded, shows where.",
        *others,
    ]


def with_disagreement(problems: list[Problem], found: list[Problem]) -> list[Problem]:
    """Both; what is said of a gradient's cause is not said twice."""
    places = {(problem.node, problem.code) for problem in found}
    return [*(p for p in problems if (p.node, p.code) not in places), *found]
