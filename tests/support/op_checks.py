"""What must hold of every record in the op table; `check_op` runs it all on one record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.autodiff.differentiate import differentiate
from core.autodiff.request import GradientRequest
from core.graph.dtypes import UNKNOWN, DType, Shape
from core.graph.model import Constant, Graph, TensorRef
from core.ops.builder import GraphBuilder, Tensor
from core.ops.table import OpDef, Sample
from tests.support import fake_xp, formulas
from tests.support.interpret import call_kernel, evaluate, keywords

KNOWN, SIZES_UNKNOWN, NOTHING_KNOWN = "known", "sizes unknown", "nothing known"
FLOATS = (np.float32, np.float64)

# A list of axes whose length depends on the values, whatever is known of them.
LENGTH_DEPENDS_ON_VALUES = {"BroadcastGradientArgs"}
# Its gradient rule is TensorFlow's, which differentiates the loss and takes backprop as given.
ONLY_FIRST_OUTPUT = {"SoftmaxCrossEntropyWithLogits"}


@dataclass
class Case:
    """One op on one sample in one element type, as a graph and as arrays."""

    definition: OpDef
    inputs: list[Any]
    builder: GraphBuilder
    tensors: list[Tensor]
    outputs: list[TensorRef]
    feeds: dict[TensorRef | str, Any]

    @property
    def operation(self) -> Any:
        return self.builder.operation("it")

    @property
    def graph(self) -> Graph:
        return self.builder.build()


def cases(definition: OpDef, dtype: Any, known: str = KNOWN) -> Iterator[Case]:
    """Every sample of the op. `known`: what inference may know of the inputs before running."""
    assert definition.samples is not None
    for sample in definition.samples(np.random.default_rng(7)):
        yield make(definition, sample, dtype, known)


def make(definition: OpDef, sample: Sample, dtype: Any, known: str = KNOWN) -> Case:
    inputs = [_typed(x, dtype) for x in sample.inputs]
    specs = [s for s in definition.inputs if not s.variadic]
    attrs = {k: _attr(v, dtype) for k, v in sample.attrs.items()}
    if definition.attrs.get("dtype") is DType:
        attrs.setdefault("dtype", DType.of(dtype))
    builder, feeds, tensors = GraphBuilder(), {}, []
    for index, (name, value) in enumerate(zip(definition.arity(len(inputs)), inputs, strict=True)):
        spec = next((s for s in specs if s.name == name), None) or next(
            s for s in definition.inputs if s.variadic
        )
        if name == "resource":
            handle = {"dtype": DType.of(value.dtype), "shape": Shape(value.shape)}
            tensors.append(builder.one("VarHandleOp", name=f"in{index}", **handle))
        elif spec.host and known != NOTHING_KNOWN:
            tensors.append(builder.constant(value, name=f"in{index}"))
        else:
            tensors.append(builder.placeholder(f"in{index}", str(value.dtype), _said(value, known)))
            feeds[f"in{index}"] = value
    outputs = builder.op(definition.type, *tensors, name="it", **attrs)
    return Case(definition, inputs, builder, tensors, [t.ref for t in outputs], feeds)


def _typed(x: Any, dtype: Any) -> np.ndarray:
    x = np.asarray(x)
    return x.astype(dtype) if x.dtype.kind == "f" else x


def _attr(value: Any, dtype: Any) -> Any:
    return Constant(_typed(value.array, dtype)) if isinstance(value, Constant) else value


def _said(value: np.ndarray, known: str) -> Shape:
    if known == KNOWN:
        return Shape(value.shape)
    return Shape((None,) * value.ndim) if known == SIZES_UNKNOWN else UNKNOWN


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
        if any(x.dtype == np.float32 for x in case.inputs):
            for value in results(case):
                assert value.dtype != np.float64 or "DstT" in case.operation.attrs


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


def check_formula(definition: OpDef) -> None:
    """The formula's text evaluates to the kernel's value (of output 0)."""
    if not definition.outputs and not definition.writes:
        return
    assert definition.formula, f"{definition.type} has no formula"
    for case in cases(definition, np.float64):
        names: dict[str, Any] = {k: definition.attr(case.operation, k) for k in _given(case)}
        names = {k: v.array if isinstance(v, Constant) else v for k, v in names.items()}
        fixed = [s for s in definition.inputs if not s.variadic]
        spare = len(case.inputs) - len(fixed)
        left = iter(case.inputs)
        for spec in definition.inputs:
            names[spec.name] = [next(left) for _ in range(spare)] if spec.variadic else next(left)
        with np.errstate(all="ignore"):
            value = formulas.evaluate(definition.formula, names)
        np.testing.assert_allclose(value, results(case)[0], rtol=1e-12, atol=1e-12)


def _given(case: Case) -> list[str]:
    attrs = case.definition.attrs
    return [k for k, v in attrs.items() if k in case.operation.attrs or not isinstance(v, type)]


def check_device_discipline(definition: OpDef) -> None:
    """The kernel keeps to what NumPy and CuPy share, and reads no more than a flag on the host."""
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
            assert isinstance(value, fake_xp.FakeArray), f"{type(value)} is not on the device"
            assert value.get().tobytes() == np.asarray(wanted).tobytes()


def check_gradient(definition: OpDef, known: str = KNOWN) -> None:
    """First and second derivatives agree with central differences in float64."""
    if not definition.differentiable:
        return
    assert definition.samples is not None
    for sample in definition.samples(np.random.default_rng(7)):
        if sample.differentiable:
            check_gradient_of(make(definition, sample, np.float64, known))


def check_gradient_of(case: Case) -> None:
    wrt = [t.ref for t in case.tensors if t.ref.short in case.feeds and t.dtype.is_floating]
    if case.definition.type in ONLY_FIRST_OUTPUT:
        case.outputs = case.outputs[:1]
    loss = _weighted(case.builder, case.outputs)
    if loss is None or not wrt:
        return
    first = _against_differences(case.graph, loss, wrt, case.feeds)
    if case.definition.type in ONLY_FIRST_OUTPUT:
        wrt = wrt[:1]
    builder = GraphBuilder(first.graph)
    again = _weighted(builder, [first.gradients[r] for r in wrt if r in first.gradients])
    if again is not None:
        _against_differences(builder.build(), again, wrt, case.feeds)


def _weighted(builder: GraphBuilder, refs: list[TensorRef]) -> TensorRef | None:
    """A scalar that every element of `refs` has its own share in."""
    total = None
    for number, ref in enumerate(refs):
        x = builder.get(ref)
        if not x.dtype.is_floating:
            continue
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
    """d loss / d ref by central differences."""
    x = np.array(feeds[ref.short])
    numeric = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        around = []
        for step in (1e-6, -1e-6):
            moved = x.copy()
            moved[place] += step
            around.append(evaluate(graph, [loss], {**feeds, ref.short: moved})[0])
        numeric[place] = (around[0] - around[1]) / 2e-6
    return numeric


def check_op(definition: OpDef) -> None:
    """Everything at once."""
    check_inference(definition)
    check_dtypes_kept(definition)
    check_inputs_untouched(definition)
    check_out_form(definition)
    check_formula(definition)
    check_device_discipline(definition)
    check_gradient(definition)
