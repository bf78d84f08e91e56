"""What a gradient is asked with respect to, or is trained, and no loss leads back to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from gradstep.core.autodiff.explain.gradient_paths import find_reached
from gradstep.core.autodiff.explain.loop_inlining import unroll_loops
from gradstep.core.autodiff.explain.missing_gradient import explain_none
from gradstep.core.autodiff.explain.why_answer import WhyAnswer
from gradstep.core.autodiff.reverse.differentiate import Differentiation
from gradstep.core.checks.doctor.examined_document import Examined
from gradstep.core.checks.doctor.lint import Finding
from gradstep.core.document.requests import requests, trained_variables
from gradstep.core.graph.foreign_origin import foreign_origin, source_line
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.build.variable import is_trainable
from gradstep.core.ops.declare.table import find
from gradstep.core.ops.typing.flatten_loops import flatten_loops

# Somebody has ended these gradients on purpose, and can see where.
_MEANT = frozenset({"stopped", "override"})
_STOPS = frozenset({"StopGradient", "PreventGradient"})
_EXPLAINED = 8  # variables, each in time linear in the graph


def find_unreached_variables(x: Examined) -> Iterator[Finding]:
    """Those of which no request that names them has a gradient, and why. What the graph's own
    program has asked for is its affair: `trainable` is all that it knows of it."""
    asked = requests(x.document)
    derived = {one.of: one for one in x.program.derived if not one.imported}
    if any(request.of not in derived for request in asked) or _is_opaque(x):
        return  # a problem says why there are no gradients, or nobody knows what leads where
    missing: dict[TensorRef, Differentiation] = {}
    for request in asked:
        for ref in request.wrt:
            if all(ref not in one.gradients for one in derived.values()):
                missing.setdefault(ref, derived[request.of])
    cut: dict[str, list[TensorRef]] = {}
    for ref, one in islice(missing.items(), _EXPLAINED):
        if ref.op in x.graph and not _has_one_elsewhere(x, ref):
            why = _why(x, ref, one)
            if not _is_meant(x, why):
                yield _finding(x, ref, why)
            elif _is_detached(x, ref, why):
                cut.setdefault(why.node or "", []).append(ref)
    for name, refs in cut.items():
        yield _detached(x, name, refs, are_all=len(missing) <= _EXPLAINED)


def _is_opaque(x: Examined) -> bool:
    """Whether a loss is computed by something that only another framework can compute."""
    return any(find(x.graph[name].type) is None for name in x.behind_losses)


def _has_one_elsewhere(x: Examined, ref: TensorRef) -> bool:
    """Whether what recorded the graph had a gradient of it."""
    run = x.document.recorded
    return run is not None and not {str(ref), ref.short}.isdisjoint(run.gradients)


def _why(x: Examined, ref: TensorRef, one: Differentiation) -> WhyAnswer:
    whole = flatten_loops(x.document.graph)
    of = find_reached(whole, ref, one.of)
    return explain_none(*unroll_loops(x.program.forward, one), of, ref, whole)


def _is_meant(x: Examined, why: WhyAnswer) -> bool:
    ends = x.graph.operations.get(why.node or "")
    return why.cause in _MEANT or (ends is not None and ends.type in _STOPS)


def _is_detached(x: Examined, ref: TensorRef, why: WhyAnswer) -> bool:
    """Whether a program cut it off, far from where it says what is trained."""
    ends = x.graph.operations.get(why.node or "")
    is_foreign = ends is not None and ends.type in _STOPS and foreign_origin(ends) is not None
    return is_foreign and is_trainable(x.graph[ref.op])


def _detached(x: Examined, name: str, refs: Sequence[TensorRef], are_all: bool) -> Finding:
    """One finding for all that is cut off at one place."""
    end = x.graph[name]
    origin = foreign_origin(end)
    assert origin is not None
    inner = origin.op.partition(".")[2].partition(".")[0]
    what, line = inner or origin.op, source_line(end) or name
    weights = "1 trained weight gets" if len(refs) == 1 else f"{len(refs)} trained weights get"
    weights = weights if are_all else f"at least {weights}"
    named = ", ".join(ref.short for ref in refs)
    text = f"{weights} no gradient: {named}: {what} at {line}"
    return Finding(name, text, "train them without it, or say that they are not trained")


def _finding(x: Examined, ref: TensorRef, why: WhyAnswer) -> Finding:
    trained = any(ref in trained_variables(x.document, o) for o in x.document.optimizers)
    comes = "so no optimizer ever changes it" if trained else "so what reads it gets None"
    fix = "let the loss be computed from it, or do not ask for it"
    return Finding(
        ref.op, f"{why.text.rstrip('.')}; {comes}", fix, "warning" if trained else "info"
    )
