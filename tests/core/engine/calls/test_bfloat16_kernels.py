"""bfloat16: kernels give what they give in float32, rounded once, and what TensorFlow gives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.engine.calls.bfloat16_kernels import computes_in_float32
from gradstep.core.engine.calls.op_evaluation import run_op
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.dtypes import Shape
from gradstep.core.graph.model import Constant
from gradstep.core.graph.number_kinds import BFLOAT16, widened
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.declare.bfloat16_refusals import REFUSALS
from gradstep.core.ops.declare.table import OpDef, Sample, all_ops, lookup
from gradstep.core.ops.typing.inference import infer
from tests.core.ops.catalogue.record_bfloat16 import MIXED, RECORDED, has_bfloat16, sampled
from tests.support.each_case import on_each_op
from tests.support.op_cases import Case, cases, make

CPU = NumpyBackend()
OPS = [d for d in all_ops() if d.samples is not None and d.type not in {*REFUSALS, *MIXED}]
RECORD: dict[str, list[list[list[int] | None] | None]] = json.loads(RECORDED.read_text())["results"]
ULP = 2.0**-7  # of the largest number of a result: a unit in the last place at most
# TensorFlow rounds between the steps of these (or, of products, cuts digits off); we round once.
ROUNDED_ON_THE_WAY = frozenset(
    "AvgPool AvgPoolGrad BatchMatMul BatchMatMulV2 BiasAddGrad Conv2DBackpropFilter "
    "Conv2DBackpropInput Conv3D Conv3DBackpropFilterV2 Conv3DBackpropInputV2 Cross "
    "DepthwiseConv2dNative DepthwiseConv2dNativeBackpropFilter DepthwiseConv2dNativeBackpropInput "
    "Elu InvGrad L2Loss LeakyRelu LogSoftmax MatMul MaxPoolGradV2 MirrorPadGrad ReciprocalGrad "
    "Rsqrt RsqrtGrad SegmentMean SegmentProd SegmentSum Selu SeluGrad Sigmoid SigmoidGrad Softmax "
    "SoftmaxCrossEntropyWithLogits Softplus SoftplusGrad Softsign SoftsignGrad "
    "SparseSoftmaxCrossEntropyWithLogits SparseTensorDenseMatMul SquaredDifference TanhGrad "
    "Xlog1py Xlogy".split()
)
ADDED_UP = {"SegmentSum", "SegmentMean"}  # in bfloat16, term by term


def short_cases(definition: OpDef) -> Iterator[tuple[Case, Case]]:
    """Each sample with bfloat16 in it, and the same numbers in float32."""
    assert definition.samples is not None
    for sample in definition.samples(np.random.default_rng(7)):
        short = make(definition, sample, BFLOAT16)
        if has_bfloat16(short):
            attrs = {name: _widened(value) for name, value in short.operation.attrs.items()}
            chosen = {name: attrs[name] for name in sample.attrs}
            inputs = tuple(map(widened, short.inputs))
            yield short, make(definition, Sample(inputs, chosen), np.float32)


def _widened(value: Any) -> Any:
    return Constant(widened(value.array)) if isinstance(value, Constant) else value


def given(case: Case) -> list[Any]:
    state = case.definition.state
    counter = [state.first_count(case.operation)] if state.counter else []
    return [*map(np.asarray, case.inputs), *counter]


def rounded(array: np.ndarray, kind: np.dtype) -> np.ndarray:
    return array.astype(BFLOAT16) if kind == BFLOAT16 else array


def equal(one: np.ndarray, other: np.ndarray) -> bool:
    """To the last bit; or all texts."""
    same = (
        one.tolist() == other.tolist() if one.dtype.hasobject else one.tobytes() == other.tobytes()
    )
    return one.shape == other.shape and one.dtype == other.dtype and same


@on_each_op(OPS)
def test_it_is_float32_rounded(definition: OpDef) -> None:
    """The kernel as it runs when nothing is known of places; float32 outputs are no bfloat16."""
    if not computes_in_float32(definition):
        return
    for short, long in short_cases(definition):
        found, exact = (run_op(CPU, case.operation, given(case)) for case in (short, long))
        assert len(found) == len(exact)
        for one, other in zip(found, exact, strict=True):
            assert (one.dtype == BFLOAT16) <= (other.dtype == np.float32)
            assert equal(one, rounded(other, one.dtype))
        if not definition.state.writes:
            told = [short.builder.type_of(ref).dtype.numpy for ref in short.outputs]
            assert [x.dtype for x in found][: len(told)] == told
        for index, new in zip(definition.state.writes, found[::-1], strict=False):
            assert len(definition.state.writes) > 1 or new.dtype == short.inputs[index].dtype


@on_each_op(OPS)
def test_a_plan_gives_the_same_bits(definition: OpDef) -> None:
    """With a place for every value, as in the debugger, and in reused memory."""
    case = next(filter(has_bfloat16, cases(definition, BFLOAT16)), None)
    if case is None or definition.state.stateful or definition.branch or "Enter" in definition.type:
        return
    alone = run_op(CPU, case.operation, given(case))
    for fast in (False, True):
        session = Session(case.graph, fast=fast)
        for _ in range(2):  # the second run goes through tables, where there are some
            found = session.run(case.outputs, case.feeds)
        for one, other in zip(found, alone, strict=True):
            assert equal(one, other)


@on_each_op(map(lookup, RECORD))
def test_it_is_what_tensorflow_gives(definition: OpDef) -> None:
    compared = 0
    for case, wanted in zip(sampled(definition), RECORD[definition.type], strict=True):
        found = run_op(CPU, case.operation, given(case))
        for one, bits in zip(found, wanted or (), strict=False):
            if bits is None:
                continue
            compared += 1
            assert one.dtype == BFLOAT16
            other = np.array(bits, np.uint16).view(BFLOAT16).reshape(one.shape)
            if definition.type not in ROUNDED_ON_THE_WAY:
                np.testing.assert_array_equal(widened(one), widened(other))
                continue
            most = ULP * (2 if definition.type in ADDED_UP else 1)
            atol = most * float(np.abs(widened(other)).max(initial=0))
            np.testing.assert_allclose(widened(one), widened(other), rtol=0, atol=atol)
    assert compared


def test_sums_are_of_float32() -> None:
    """In bfloat16 itself, 256 and 1 are 256, and the sum would never get beyond that."""
    build = GraphBuilder()
    x = build.placeholder("x", "bfloat16", (1000,))
    total = tf.reduce_sum(x)
    (found,) = Session(build.build()).run([total.ref], {"x": np.ones(1000)})
    assert (found.dtype, float(found)) == (BFLOAT16, 1000)


@pytest.mark.parametrize("fast", [False, True])
def test_it_goes_through_loops_and_tensor_arrays(fast: bool) -> None:
    build = GraphBuilder()
    x = build.placeholder("x", "bfloat16", (None,))
    with build.as_default():
        squares = tf.map_fn(lambda one: tf.multiply(one, one), x)
        total = tf.reduce_sum(squares)
    derived = differentiate(build.build(), GradientRequest((total.ref,), (x.ref,)))
    session = Session(derived.graph, fast=fast)
    refs = [squares.ref, derived.gradients[x.ref]]
    for numbers in ([1.5, -2, 17], [0.1, 3]):
        found, slopes = session.run(refs, {"x": numbers})
        exact = np.array(numbers).astype(BFLOAT16)
        assert found.dtype == slopes.dtype == BFLOAT16
        assert found.tolist() == (widened(exact) ** 2).astype(BFLOAT16).tolist()
        assert slopes.tolist() == (2 * widened(exact)).tolist()


def test_what_is_known_before_a_run_is_what_it_gives() -> None:
    build = GraphBuilder()
    numbers = build.constant(np.array([np.nan, 1, 3, 2], BFLOAT16))
    place = build.one("ArgMax", numbers, np.int32(0))  # looks past NaN
    bits = build.one("Bitcast", numbers, type="uint16")
    known = infer(build.build()).constants
    found = Session(build.build()).run([place.ref, bits.ref])
    assert known[place.op.name].tolist() == found[0].tolist() == 2
    assert known[bits.op.name].tolist() == found[1].tolist()


def test_halves_go_to_the_even_neighbour() -> None:
    build = GraphBuilder()
    x, y = (build.placeholder(name, "bfloat16", (2,)) for name in "xy")
    total = tf.add(x, y)
    (found,) = Session(build.build()).run([total.ref], {"x": [256, 258], "y": [1, 1]})
    assert found.tolist() == [256, 260]


def test_a_batch_norm_keeps_its_vectors_in_float32() -> None:
    build = GraphBuilder()
    x = build.placeholder("x", "bfloat16", (2, 2, 2, 1))
    scale, offset, *rest = (build.constant(v, "float32") for v in ([2.0], [0.5], [], []))
    outputs = build.op("FusedBatchNormV3", x, scale, offset, *rest)
    numbers = np.arange(8.0).reshape(2, 2, 2, 1)
    y, mean, variance, *_ = Session(build.build()).run([t.ref for t in outputs], {"x": numbers})
    assert (y.dtype, mean.dtype, variance.dtype) == (BFLOAT16, np.float32, np.float32)
    wanted = 2 * (numbers - 3.5) / np.sqrt(numbers.var() + 1e-4) + 0.5
    np.testing.assert_allclose(widened(y), wanted, rtol=2**-8)
    np.testing.assert_allclose(mean, [3.5])


def test_a_variable_is_trained_in_it() -> None:
    build = GraphBuilder()
    x = build.placeholder("x", "bfloat16", (3,))
    w = build.one("VariableV2", name="w", dtype="bfloat16", shape=Shape.of(3))
    loss = tf.reduce_sum(tf.square(tf.multiply(tf.identity(w), x)))
    derived = differentiate(build.build(), GradientRequest(of=(loss.ref,), wrt=(w.ref,)))
    gradient = derived.gradients[w.ref]
    again = GraphBuilder(derived.graph)
    rate = again.constant(0.125, "bfloat16")
    step = again.op("ApplyGradientDescent", Tensor(again, w.ref), rate, Tensor(again, gradient))
    start = np.array([1, 2, 3], BFLOAT16)
    session = Session(again.build(), initial={"w": start})
    (found,) = session.run([gradient], {"x": [1.0, 0.5, 2]})
    assert (found.dtype, found.tolist()) == (BFLOAT16, [2, 1, 24])
    session.run([], {"x": [1.0, 0.5, 2]}, [step[0].op.name])
    (now,) = session.run([w.ref])
    assert (now.dtype, now.tolist()) == (BFLOAT16, [0.75, 1.875, 0])


@pytest.mark.parametrize("fast", [False, True])
def test_variables_get_their_first_values_in_it(fast: bool) -> None:
    build = GraphBuilder()
    third = build.constant([1 / 3], "bfloat16")
    ref = build.one("VariableV2", name="ref", dtype="bfloat16", shape=Shape.of(1))
    handle = build.one("VarHandleOp", name="handle", dtype="bfloat16", shape=Shape.of(1))
    build.op("Assign", ref, third, name="first")
    build.op("AssignVariableOp", handle, third, dtype="bfloat16", name="second")
    build.op("AssignAdd", ref, third, name="more")
    build.op("AssignAddVariableOp", handle, third, dtype="bfloat16", name="more_there")
    read = build.one("ReadVariableOp", handle, dtype="bfloat16", name="read")
    session = Session(build.build(), fast=fast)
    for targets, wanted in (
        (["first", "second"], 0.333984375),
        (["more", "more_there"], 0.66796875),
    ):
        session.run([], {}, targets)
        for found in session.run([ref.ref, read.ref]):
            assert (found.dtype, found.tolist()) == (BFLOAT16, [wanted])


def test_gradients_of_a_few_functions_follow_differences() -> None:
    """In float64 the same graph gives the differences; bfloat16 keeps two digits of them."""
    x = np.array([0.5, 1.25, -0.75], BFLOAT16)
    for function in (tf.tanh, tf.sigmoid, tf.exp, tf.nn.softplus, tf.nn.softmax, tf.square):
        slopes = []
        for dtype in ("bfloat16", "float64"):
            build = GraphBuilder()
            at = build.placeholder("x", dtype, (3,))
            loss = tf.reduce_sum(tf.multiply(function(at), build.constant([1, 2, 3], dtype)))
            derived = differentiate(build.build(), GradientRequest((loss.ref,), (at.ref,)))
            (found,) = Session(derived.graph).run([derived.gradients[at.ref]], {"x": x})
            slopes.append(found)
        assert slopes[0].dtype == BFLOAT16
        np.testing.assert_allclose(widened(slopes[0]), slopes[1], rtol=2**-5, atol=2**-6)


def test_a_queue_and_a_function_of_the_users_are_given_bfloat16() -> None:
    build = GraphBuilder()
    x = build.placeholder("x", "bfloat16", (2,))
    seen = []

    def function(array: Any) -> Any:
        seen.append(array.dtype)
        return array

    (y,) = build.op("PyFunc", x, token="f", Tout=("bfloat16",))
    queue = build.one("FIFOQueueV2", component_types=("bfloat16",), shapes=())
    put = build.op("QueueEnqueueV2", queue, tf.square(x), Tcomponents=("bfloat16",), name="put")
    assert not put
    (taken,) = build.op("QueueDequeueV2", queue, component_types=("bfloat16",))
    session = Session(build.build(), functions={"f": function})
    session.run([], {"x": [1.5, 2]}, ["put"])
    found = session.run([y.ref, taken.ref], {"x": [1.5, 2]})
    assert seen == [BFLOAT16]
    assert [x.dtype for x in found] == [BFLOAT16, BFLOAT16]
    assert found[1].tolist() == [2.25, 4]
