"""A trace opened, run and differentiated, held against what its framework recorded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gradstep.core.autodiff.check.promote_float64 import widen, widen_array
from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.checks.gradients.gradient_scale import GradientScales
from gradstep.core.document.document import Document
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.model import TensorRef
from gradstep.core.io.open_document import read
from gradstep.core.program.derive import derive
from gradstep.gpu.own_iterations import OwnIterations

WORST = 1e-4  # relative to the largest


@dataclass(frozen=True)
class Verdict:
    """How far a trace and Gradstep are apart. one_sided: gradients that only one of them has, and
    that are not zeros. off: what is further apart than it may be."""

    name: str
    values: int
    gradients: int
    worst: float
    one_sided: int
    off: tuple[str, ...]
    unlowered: tuple[str, ...] = ()
    allowed: float = WORST

    @property
    def ok(self) -> bool:
        return self.worst <= self.allowed and not self.one_sided


def judge(path: Path, worst: float = WORST) -> Verdict:
    """The verdict on one trace. worst: how far apart anything may be, relative to the largest."""
    document = read(path)
    recorded = document.recorded
    assert recorded is not None
    wanted = {TensorRef.parse(name): c.array for name, c in recorded.values.items()}
    told = _told_gradients(document)
    program = derive(_asking(document, told))
    there = {ref: g for ref in told if (g := program.gradients.get(ref)) is not None}
    session = Session(program.graph, initial=program.initial)
    feeds = {str(ref): array for ref, array in program.feeds.items()}
    found = session.run([*wanted, *there.values()], feeds)
    allowed = max(worst, 8 * recorded.epsilon)  # bfloat16 keeps two digits
    pairs = zip(wanted.items(), found, strict=False)
    values = {str(ref): apart(value, array) for (ref, array), value in pairs}
    own = dict(zip(there, found[len(wanted) :], strict=True))
    behind, scales = _before_unknown(document), GradientScales(document.graph, recorded)
    one_sided = [*_one_sided(told, own, behind)]
    gradients = {
        f"∂{ref}": apart(own[ref], array, scales.of(ref))
        for ref, array in told.items()
        if array is not None and ref in own and ref.op not in behind
    }
    for name, by in _in_loops(document):
        (gradients if name.startswith("∂") else values)[name] = by
    both = {**values, **gradients}
    off = sorted((name for name, by in both.items() if by > allowed), key=both.__getitem__)
    unknown = tuple(op.name for op in document.graph if "." in op.type)
    return Verdict(
        path.stem, len(values), len(gradients), max(both.values(), default=0.0), len(one_sided),
        (*one_sided, *(f"{name} by {both[name]:.1e}" for name in off)), unknown, allowed,
    )  # fmt: skip


def _told_gradients(document: Document) -> dict[TensorRef, np.ndarray | None]:
    """What the framework gave; None for what it had none of."""
    recorded = document.recorded
    if recorded is None or not document.request.of:
        return {}
    there = {TensorRef.parse(name): c.array for name, c in recorded.gradients.items()}
    meant = {ref: array for ref, array in there.items() if ref.op not in recorded.remarks}
    return {**meant, **{TensorRef.parse(name): None for name in recorded.none}}


def _asking(document: Document, wrt: Iterable[TensorRef]) -> Document:
    """The same, asked for these gradients, by native rules, and not trained."""
    request = GradientRequest(of=document.request.of, wrt=(*wrt,))
    return document.with_(request=request, optimizers=())


def _in_loops(document: Document) -> Iterator[tuple[str, float]]:
    """Of each tensor in a loop, and each gradient, in each iteration of the document's own runs,
    how far they are apart."""
    recorded = document.recorded
    if recorded is None or not recorded.iterations:
        return
    program = derive(document)
    own = OwnIterations(program, NumpyBackend())
    for name, kept in recorded.iterations.items():
        ref = TensorRef.parse(name)
        holder = program.gradients.get(ref)
        if not own.computes(ref):
            continue  # nothing reads it
        largest = np.abs(kept.values.array).max(initial=0)
        for place, wanted in zip(kept.places.array.tolist(), kept.values.array, strict=True):
            yield f"{name} {place}", _off(own.value(ref, tuple(place)), wanted, largest)
        if kept.gradients is None or holder is None:
            continue
        around = np.abs(kept.gradients.array).max(initial=0)
        for place, wanted in zip(kept.places.array.tolist(), kept.gradients.array, strict=True):
            yield f"∂{name} {place}", _off(own.value(holder, tuple(place)), wanted, around)


def in_float64(document: Document, name: str) -> np.ndarray:
    """A value, or a gradient ("∂h:0"), as it is without rounding to float32."""
    program, ref = derive(document), TensorRef.parse(name.removeprefix("∂"))
    graph, wanted = widen(program.forward), ref
    if name.startswith("∂"):
        request = GradientRequest(of=document.request.of, wrt=(ref,))
        derived = differentiate(graph, request)
        found = derived.gradients[ref]
        assert found is not None
        graph, wanted = derived.graph, found
    initial = {k: widen_array(np.asarray(v)) for k, v in program.initial.items()}
    feeds = {str(r): widen_array(np.asarray(v)) for r, v in program.feeds.items()}
    value: np.ndarray = Session(graph, initial=initial).run([wanted], feeds)[0]
    return value


def _off(found: np.ndarray | None, wanted: np.ndarray, scale: float) -> float:
    """Rounding is measured by the largest number of all iterations."""
    return np.inf if found is None else apart(found, wanted, float(scale))


def _before_unknown(document: Document) -> frozenset[str]:
    """What leads to operations that were not lowered: gradients end there, and it is said so."""
    unknown = [op.name for op in document.graph if "." in op.type]
    inputs = [ref.op for name in unknown for ref in document.graph[name].inputs if ref]
    return frozenset(document.graph.ancestors(inputs))


def _one_sided(
    told: Mapping[TensorRef, np.ndarray | None],
    own: Mapping[TensorRef, np.ndarray],
    behind: frozenset[str],
) -> Iterator[str]:
    for ref, array in told.items():
        if array is None:
            if np.any(own.get(ref, 0)):
                yield f"∂{ref} is None there"
        elif ref not in own and np.any(array) and ref.op not in behind:
            yield f"∂{ref} is None here"


def apart(found: np.ndarray, wanted: np.ndarray, zero: float = 0.0) -> float:
    """The largest error, relative to the largest number; to `zero` where that is more."""
    if found.shape != wanted.shape:
        return np.inf
    a, b = found.astype(np.complex128), wanted.astype(np.complex128)
    if not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return np.inf
    a, b = np.where(np.isfinite(a), a, 0), np.where(np.isfinite(b), b, 0)
    largest = max(float(np.abs(b).max(initial=0)), zero, 1e-12)
    return float(np.abs(a - b).max(initial=0)) / largest
