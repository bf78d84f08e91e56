"""What must hold of every record in the op table; `check_op` runs it all on one record."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.autodiff.differentiate import differentiate
from core.autodiff.request import GradientRequest
from core.graph.dtypes import DType, Shape
from core.graph.model import Constant, Graph, TensorRef
from core.ops.builder import GraphBuilder, Tensor
from core.ops.table import OpDef
from tests.support import fake_xp, formulas
from tests.support.derivative_excuses import (
    NO_SECOND_DERIVATIVE,
    ONLY_FIRST_OUTPUT,
    SECOND_ONLY_FOR_FIRST_INPUT,
    WITHOUT_DERIVATIVE,
)
from tests.support.interpret import call_kernel, evaluate, keywords
from tests.support.op_cases import KNOWN, NOTHING_KNOWN, SIZES_UNKNOWN, Case, cases, make

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
    "UniqueWithCounts",
    "Where",
}


def results(case: Case, xp: Any = np, inputs: Any = None) -> tuple[Any, ...]:
    inputs = inputs or case.inputs
    if not case.definition.counter:
        with np.errstate(all="ignore"):
            return call_kernel(case.definition, case.operation, inputs, xp=xp)
    first = call_kernel(case.definition, case.operation, [*inputs, np.int64(0)], xp=xp)
    return first[:-1]


def check_inference(definition: OpDef) -> None:
    """Inferred types are the real ones; with less known, they never contradict them."""
    for dtype in FLOATS:
        for known in (KNOWN, SIZES_UNKNOWN, NOTHING_KNOWN):
            for case in cases(definition, dtype, known):
                values = results(case)
                assert definition.writes or len(values) == len(case.outputs)
                for ref, value in zip(case.outputs, values, strict=False):
                    kind = case.builder.type_of(ref)
                    assert kind.dtype is DType.of(np.asarray(value).dtype)
                    assert kind.shape.accepts(np.shape(value)), f"{kind} for {np.shape(value)}"
                    exact = definition.type not in LENGTH_DEPENDS_ON_VALUES
                    assert known != KNOWN or not exact or kind.shape == Shape(np.shape(value))


def check_dtypes_kept(definition: OpDef) -> None:
    """float32 in, float32 out: no kernel lets a Python float or a float64 slip in."""
    for case in cases(definition, np.float32):
        if any(x.dtype in (np.float32, np.complex64) for x in case.inputs):
            for value in results(case):
                double = value.dtype in (np.float64, np.complex128)
                assert not double or "DstT" in case.operation.attrs


def check_inputs_untouched(definition: OpDef) -> None:
    for case in cases(definition, np.float32):
        before = [x.copy() for x in case.inputs]
        for x in case.inputs:
            x.setflags(write=False)
        results(case)
        for old, new in zip(before, case.inputs, strict=True):
            assert old.tobytes() == new.tobytes()


def check_out_form(definition: OpDef) -> None:
    """The form with a place for the result writes the same bits."""
    if definition.out_kernel is None:
        return
    for dtype in FLOATS:
        for case in cases(definition, dtype):
            plain = [np.asarray(r) for r in results(case)]
            places = [np.full_like(r, 1) for r in plain]
            out = places[0] if len(places) == 1 else tuple(places)
            with np.errstate(all="ignore"):
                wanted = keywords(definition, case.operation)
                definition.out_kernel(np, *case.inputs, **wanted, out=out)
            assert [p.tobytes() for p in places] == [r.tobytes() for r in plain]


def check_calls_with_gaps(definition: OpDef) -> None:
    """An elementwise op's calls, listed once, take arrays whose rows lie apart, and follow what
    changes in them."""
    if not definition.elementwise or definition.out_calls is None or definition.writes:
        return
    for case in cases(definition, np.float32):
        if len({np.shape(x) for x in case.inputs}) > 1:
            continue
        values = [np.stack([x, x + x], axis=-1) for x in case.inputs]
        plain = np.asarray(results(case, inputs=values)[0])
        inputs, place = [_apart(np.zeros_like(x)) for x in values], _apart(np.full_like(plain, 1))
        attrs = keywords(definition, case.operation)
        listed = [*definition.out_calls(np, *inputs, out=place, room=np.empty, **attrs)]
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
    for case in cases(definition, np.float32):
        if definition.keeps_bytes:
            assert np.asarray(results(case)[0]).tobytes() == case.inputs[0].tobytes()
        shapes = {np.shape(x) for x in case.inputs if np.ndim(x)}
        if definition.elementwise and len(shapes) == 1:
            whole = [np.asarray(r).reshape(-1) for r in results(case)]
            half = len(whole[0]) // 2
            for part in (slice(0, half), slice(half, None)):
                inputs = [x.reshape(-1)[part] if np.ndim(x) else x for x in case.inputs]
                for have, want in zip(results(case, inputs=inputs), whole, strict=True):
                    assert np.asarray(have).tobytes() == want[part].tobytes()


def check_formula(definition: OpDef) -> None:
    """The formula's text evaluates to the kernel's value (of output 0)."""
    if not definition.outputs and not definition.writes:
        return
    assert definition.formula, f"{definition.type} has no formula"
    for case in cases(definition, np.float64):
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
    for case in cases(definition, np.float32):
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


def check_gradient(definition: OpDef, known: str = KNOWN) -> list[int]:
    """First and second derivatives agree with central differences in float64. For each sample
    that is differentiable: how many orders were compared; what is left out is excused, with a
    reason, in derivative_excuses.py."""
    if not definition.differentiable:
        return []
    assert definition.samples is not None
    return [
        check_gradient_of(make(definition, sample, np.float64, known))
        for sample in definition.samples(np.random.default_rng(7))
        if sample.differentiable
    ]


def check_gradient_of(case: Case) -> int:
    """How many orders of derivatives there were to compare: 0, 1 or 2."""
    wrt = _differentiable(case)
    if case.definition.type in ONLY_FIRST_OUTPUT:
        case.outputs = case.outputs[:1]
    loss = _weighted(case.builder, case.outputs)
    if loss is None or not wrt:
        return 0
    first = _against_differences(case.graph, loss, wrt, case.feeds)
    if case.definition.type in NO_SECOND_DERIVATIVE:
        return 1
    if case.definition.type in SECOND_ONLY_FOR_FIRST_INPUT:
        wrt = wrt[:1]
    builder = GraphBuilder(first.graph)
    again = _weighted(builder, [first.gradients[r] for r in wrt if r in first.gradients])
    if again is None:  # no gradient at all, as the numbers say, too
        return 1
    _against_differences(builder.build(), again, wrt, case.feeds)
    return 2


def _differentiable(case: Case) -> list[TensorRef]:
    """The fed inputs that a gradient can be asked for."""
    left_out, _ = WITHOUT_DERIVATIVE.get(case.definition.type, ((), ""))
    return [
        t.ref
        for index, t in enumerate(case.tensors)
        if t.ref.short in case.feeds and index not in left_out and _has_parts(t)
    ]


def _has_parts(x: Tensor) -> bool:
    return x.dtype.is_floating or x.dtype.is_complex


def _parts(x: Tensor) -> list[Tensor]:
    """The real tensors that `x` consists of."""
    if not x.dtype.is_complex:
        return [x]
    kind = DType.FLOAT64 if x.dtype is DType.COMPLEX128 else DType.FLOAT32
    return [x.builder.one(name, x, Tout=kind) for name in ("Real", "Imag")]


def _weighted(builder: GraphBuilder, refs: list[TensorRef]) -> TensorRef | None:
    """A scalar that every element of `refs` has its own share in."""
    total = None
    tensors = [builder.get(ref) for ref in refs]
    for number, x in enumerate(p for t in tensors if _has_parts(t) for p in _parts(t)):
        flat = builder.one("Reshape", x, np.array([-1], np.int32))
        size = builder.one("Size", flat)
        ramp = builder.one("Range", np.array(0, np.int32), size, np.array(1, np.int32))
        weights = builder.one("Cast", ramp, DstT=x.dtype) * 0.7 + (0.3 + number)
        part = builder.one("Sum", flat * weights, np.array([0], np.int32))
        total = part if total is None else total + part
    return None if total is None else total.ref


def _against_differences(
    graph: Graph, loss: TensorRef, wrt: list[TensorRef], feeds: dict[Any, Any]
) -> Any:
    result = differentiate(graph, GradientRequest((loss,), tuple(wrt)))
    for ref in wrt:
        numeric = differences(graph, loss, ref, feeds)
        if ref not in result.gradients:
            np.testing.assert_allclose(numeric, 0, atol=1e-6, err_msg=f"None for {ref}")
            continue
        (value,) = evaluate(result.graph, [result.gradients[ref]], feeds)
        assert value.shape == numeric.shape
        np.testing.assert_allclose(value, numeric, rtol=2e-6, atol=2e-6, err_msg=str(ref))
    return result


def differences(graph: Graph, loss: TensorRef, ref: TensorRef, feeds: dict[Any, Any]) -> Any:
    """d loss / d ref by central differences. Of a complex tensor x + iy that is d loss / dx +
    i d loss / dy, the gradient as TensorFlow means it."""
    x = np.array(feeds[ref.short])
    numeric = np.zeros_like(x)
    for direction in (1, 1j) if x.dtype.kind == "c" else (1,):
        for place in np.ndindex(x.shape):
            around = []
            for step in (1e-6, -1e-6):
                moved = x.copy()
                moved[place] += step * direction
                around.append(evaluate(graph, [loss], {**feeds, ref.short: moved})[0])
            numeric[place] += (around[0] - around[1]) / 2e-6 * direction
    return numeric


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
