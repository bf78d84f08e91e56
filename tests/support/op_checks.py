"""What must hold of every record in the op table; `check_op` runs it all on one record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.graph.model import Constant
from gradstep.core.ops.declare.table import OpDef
from tests.support import fake_xp, formulas
from tests.support.gradient_checks import check_gradient
from tests.support.interpret import call_kernel, keywords
from tests.support.op_cases import NOTHING_KNOWN, SIZES_UNKNOWN, Case, cases, shared_cases

FLOATS = (np.float32, np.float64)

# What they give is as long as the values say, whatever is known of them.
LENGTH_DEPENDS_ON_VALUES = {
    "BroadcastGradientArgs",
    "DynamicPartition",
    "DynamicStitch",
    "ListDiff",
    "ParallelDynamicStitch",
    "SegmentMax",
    "SegmentMean",
    "SegmentMin",
    "SegmentProd",
    "SegmentSum",
    "SparseSegmentMean",
    "SparseSegmentSqrtN",
    "SparseSegmentSum",
    "Unique",
    "UniqueV2",
    "UniqueWithCounts",
    "UniqueWithCountsV2",
    "Where",
}


def results(case: Case, xp: Any = np, inputs: Any = None) -> tuple[Any, ...]:
    inputs = inputs or case.inputs
    if not case.definition.state.counter:
        with np.errstate(all="ignore"):
            return call_kernel(case.definition, case.operation, inputs, xp=xp)
    count = case.definition.state.first_count(case.operation)
    first = call_kernel(case.definition, case.operation, [*inputs, count], xp=xp)
    return first[:-1]


def check_inference(definition: OpDef) -> None:
    """Inferred types are the real ones; with less known of the shapes, whatever the element type,
    they never contradict them."""
    exact = definition.type not in LENGTH_DEPENDS_ON_VALUES
    for dtype in FLOATS:
        known = shared_cases(definition, dtype)
        values = [results(case) for case in known]
        for case, found in zip(known, values, strict=True):
            assert definition.state.writes or len(found) == len(case.outputs)
            for kind, value in _accepting(case, found):
                assert not exact or kind.shape == Shape(np.shape(value))
    for level in (SIZES_UNKNOWN, NOTHING_KNOWN):
        for case, found in zip(cases(definition, FLOATS[-1], level), values, strict=True):
            assert [*_accepting(case, found)] or not case.outputs


def _accepting(case: Case, values: tuple[Any, ...]) -> Iterator[tuple[TensorType, Any]]:
    """The types inferred of the outputs, which accept these values."""
    for ref, value in zip(case.outputs, values, strict=False):
        kind = case.builder.type_of(ref)
        assert kind.dtype is DType.of(np.asarray(value).dtype)
        assert kind.shape.accepts(np.shape(value)), f"{kind} for {np.shape(value)}"
        yield kind, value


def check_dtypes_kept(definition: OpDef) -> None:
    """float32 in, float32 out: no kernel lets a Python float or a float64 slip in."""
    for case in shared_cases(definition, np.float32):
        if any(x.dtype in (np.float32, np.complex64) for x in case.inputs):
            for value in results(case):
                double = value.dtype in (np.float64, np.complex128)
                assert not double or "DstT" in case.operation.attrs


def check_inputs_untouched(definition: OpDef) -> None:
    for case in shared_cases(definition, np.float32):
        before = [x.copy() for x in case.inputs]
        assert not any(x.flags.writeable for x in case.inputs)
        results(case)
        for old, new in zip(before, case.inputs, strict=True):
            assert old.tobytes() == new.tobytes()


def check_out_form(definition: OpDef) -> None:
    """The form with a place for the result writes the same bits."""
    if definition.kernel.out is None:
        return
    for dtype in FLOATS:
        for case in shared_cases(definition, dtype):
            plain = [np.asarray(r) for r in results(case)]
            places = [np.full_like(r, 1) for r in plain]
            out = places[0] if len(places) == 1 else tuple(places)
            with np.errstate(all="ignore"):
                wanted = keywords(definition, case.operation)
                definition.kernel.out(np, *case.inputs, **wanted, out=out)
            assert [p.tobytes() for p in places] == [r.tobytes() for r in plain]


def check_calls_with_gaps(definition: OpDef) -> None:
    """An elementwise op's calls, listed once, take arrays whose rows lie apart, and follow what
    changes in them."""
    calls = definition.kernel.calls
    if not definition.memory.elementwise or calls is None or definition.state.writes:
        return
    for case in shared_cases(definition, np.float32):
        if len({np.shape(x) for x in case.inputs}) > 1:
            continue
        values = [np.stack([x, x + x], axis=-1) for x in case.inputs]
        plain = np.asarray(results(case, inputs=values)[0])
        inputs, place = [_apart(np.zeros_like(x)) for x in values], _apart(np.full_like(plain, 1))
        attrs = keywords(definition, case.operation)
        listed = [*calls(np, *inputs, out=place, room=np.empty, **attrs)]
        for array, value in zip(inputs, values, strict=True):
            array[...] = value
        with np.errstate(all="ignore"):
            for function, *arguments in listed:
                function(*arguments)
        assert place.tobytes() == plain.tobytes()


def _apart(array: np.ndarray) -> np.ndarray:
    """The same, with as much memory between the rows."""
    return np.concatenate([array, array], axis=-1)[..., : array.shape[-1]]


def check_layout_claims(definition: OpDef) -> None:
    """What the fast layout relies on: bytes that are kept, elements that stand alone."""
    for case in shared_cases(definition, np.float32):
        if definition.memory.keeps_bytes:
            assert np.asarray(results(case)[0]).tobytes() == case.inputs[0].tobytes()
        shapes = {np.shape(x) for x in case.inputs if np.ndim(x)}
        if definition.memory.elementwise and len(shapes) == 1:
            whole = [np.asarray(r).reshape(-1) for r in results(case)]
            half = len(whole[0]) // 2
            for part in (slice(0, half), slice(half, None)):
                inputs = [x.reshape(-1)[part] if np.ndim(x) else x for x in case.inputs]
                for have, want in zip(results(case, inputs=inputs), whole, strict=True):
                    assert np.asarray(have).tobytes() == want[part].tobytes()


def check_formula(definition: OpDef) -> None:
    """The formula's text evaluates to the kernel's value (of output 0)."""
    if not definition.outputs and not definition.state.writes:
        return
    assert definition.formula, f"{definition.type} has no formula"
    for case in shared_cases(definition, np.float64):
        names: dict[str, Any] = {k: definition.attr(case.operation, k) for k in _given(case)}
        names = {k: v.array if isinstance(v, Constant) else v for k, v in names.items()}
        fixed = [s for s in definition.inputs if not s.variadic]
        lists = len(definition.inputs) - len(fixed)
        spare = (len(case.inputs) - len(fixed)) // max(lists, 1)
        left = iter(case.inputs)
        for spec in definition.inputs:
            names[spec.name] = [next(left) for _ in range(spare)] if spec.variadic else next(left)
        with np.errstate(all="ignore"):
            value = formulas.evaluate(definition.formula, names)
        found = results(case)[0]
        if found.dtype == object:
            assert np.ravel(value).tolist() == found.ravel().tolist()
        else:
            np.testing.assert_allclose(value, found, rtol=1e-12, atol=1e-12)


def _given(case: Case) -> list[str]:
    attrs = case.definition.attrs
    return [k for k, v in attrs.items() if k in case.operation.attrs or not isinstance(v, type)]


def check_device_discipline(definition: OpDef) -> None:
    """The kernel keeps to what NumPy and CuPy share, and reads no more than a flag on the host;
    text is on the host, whatever the device."""
    hosts = {s.name for s in definition.inputs if s.host}
    for case in shared_cases(definition, np.float32):
        names = [n.partition("[")[0] for n in definition.arity(len(case.inputs))]
        inputs = [
            x if name in hosts else fake_xp.put(x)
            for name, x in zip(names, case.inputs, strict=True)
        ]
        before = fake_xp.FakeArray.host_reads
        found = results(case, fake_xp.xp, inputs)
        assert fake_xp.FakeArray.host_reads - before <= 1
        for value, wanted in zip(found, results(case), strict=True):
            if np.asarray(wanted).dtype == object:
                assert value.tolist() == wanted.tolist()
                continue
            assert isinstance(value, fake_xp.FakeArray), f"{type(value)} is not on the device"
            assert value.get().tobytes() == np.asarray(wanted).tobytes()


def check_op(definition: OpDef) -> None:
    """Everything at once."""
    check_inference(definition)
    check_dtypes_kept(definition)
    check_inputs_untouched(definition)
    check_out_form(definition)
    check_layout_claims(definition)
    check_formula(definition)
    check_device_discipline(definition)
    check_gradient(definition)
