"""What a gradient is asked with respect to, or is trained, and no loss leads back to."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from gradstep.core.autodiff.explain.gradient_paths import find_reached
from gradstep.core.autodiff.explain.loop_inlining import unroll_loops
from gradstep.core.autodiff.explain.missing_gradient import explain_none
from gradstep.core.autodiff.reverse.differentiate import Differentiation
from gradstep.core.checks.doctor.examined_document import Examined
from gradstep.core.checks.doctor.lint import Finding
from gradstep.core.document.requests import requests, trained_variables
from gradstep.core.graph.model import TensorRef
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
    for ref, one in islice(missing.items(), _EXPLAINED):
        if ref.op in x.graph and not _has_one_elsewhere(x, ref):
            yield from _finding(x, ref, one)


def _is_opaque(x: Examined) -> bool:
    """Whether a loss is computed by something that only another framework can compute."""
    return any(find(x.graph[name].type) is None for name in x.behind_losses)


def _has_one_elsewhere(x: Examined, ref: TensorRef) -> bool:
    """Whether what recorded the graph had a gradient of it."""
    run = x.document.recorded
    return run is not None and not {str(ref), ref.short}.isdisjoint(run.gradients)


def _finding(x: Examined, ref: TensorRef, one: Differentiation) -> Iterator[Finding]:
    whole = flatten_loops(x.document.graph)
    of = find_reached(whole, ref, one.of)
    why = explain_none(*unroll_loops(x.program.forward, one), of, ref, whole)
    ends = x.graph.operations.get(why.node or "")
    if why.cause in _MEANT or (ends is not None and ends.type in _STOPS):
        return
    trained = any(ref in trained_variables(x.document, o) for o in x.document.optimizers)
    comes = "so no optimizer ever changes it" if trained else "so what reads it gets None"
    fix = "let the loss be computed from it, or do not ask for it"
    yield Finding(ref.op, f"{why.text.rstrip('.')}; {comes}", fix, "warning" if trained else "info")
