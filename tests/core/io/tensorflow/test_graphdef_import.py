"""GraphDefs that TensorFlow wrote come in whole; broken ones are refused in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant, Phase, TensorRef
from gradstep.core.io.disk.memory_budget import Budget, OverBudgetError
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read
from gradstep.core.io.tensorflow import graphdef_export, graphdef_import
from gradstep.core.io.tensorflow.graphdef_attributes import read_attribute, write_attribute
from gradstep.core.io.tensorflow.graphdef_proto import message
from gradstep.core.io.tensorflow.graphdef_tensors import read_tensor, write_tensor
from tests.core.io.documents import attributes, constants
from tests.support.comparable import comparable

GRAPHS = Path(__file__).parents[3] / "data" / "oracle" / "graphs"
ALL = sorted(path.stem for path in GRAPHS.glob("*.pb"))


@pytest.mark.parametrize("name", ALL)
def test_binary_and_text_say_the_same(name: str) -> None:
    binary = graphdef_import.from_pb((GRAPHS / f"{name}.pb").read_bytes(), name)
    text = graphdef_import.from_pbtxt((GRAPHS / f"{name}.pbtxt").read_bytes(), name)
    assert comparable(binary.graph) == comparable(text.graph)
    assert len(binary.graph) > 3


@pytest.mark.parametrize("name", ALL)
def test_import_export_import(name: str) -> None:
    first = graphdef_import.from_pb((GRAPHS / f"{name}.pb").read_bytes(), name)
    for data, reader in (
        (graphdef_export.to_pb(first), graphdef_import.from_pb),
        (graphdef_export.to_pbtxt(first), graphdef_import.from_pbtxt),
    ):
        again = reader(data, name)
        assert comparable(again.graph) == comparable(first.graph)


def test_a_training_graph_is_understood() -> None:
    document = read(GRAPHS / "simple_network_adam.pb")
    graph = document.graph
    assert document.init == "init"
    assert document.title == "simple_network_adam.pb"
    assert {"train", "d_c", "d_k"} <= set(document.targets)
    assert not {"init", "c/Assign", "data"} & set(document.targets)
    assert graph["a"].inputs == (TensorRef("d"), TensorRef("e"))
    assert graph["train"].control_inputs
    assert graph["c/read"].attrs["_class"] == ("loc:@c",)
    backward = graph["gradients/a_grad/Mul"]
    assert (backward.phase, backward.origin) == (Phase.BACKWARD, "a")
    assert graph["gradients/xent/xentropy_grad/mul"].origin == "xent/xentropy"
    assert graph["gradients/AddN"].phase is Phase.BACKWARD
    assert graph["train/update_c/ApplyAdam"].origin == "c"
    assert graph["train/mul"].phase is Phase.UPDATE
    assert graph["train/Assign"].origin == "beta1_power"
    assert graph["train"].phase is Phase.UPDATE
    assert graph["c/Adam/Assign"].phase is Phase.FORWARD


def test_queues_of_older_graphs_are_the_same() -> None:
    """Before TensorFlow 1.0 they had the names without V2, and handles that were text."""
    proto = message("GraphDef").FromString((GRAPHS / "fifo_queue.pb").read_bytes())
    for node in proto.node:
        node.op = node.op.removesuffix("V2") if node.op.startswith(("FIFO", "Queue")) else node.op
    document = graphdef_import.from_pb(proto.SerializeToString())
    assert [thread.targets for thread in document.threads] == [("enq",)]
    session = Session(document.graph)
    session.run([], {"x": [1, 2, 3]}, ["enq"])
    assert [float(session.run(["deq"])[0]) for _ in range(3)] == [1, 2, 3]
    assert graphdef_export.to_graphdef(document).node[1].op == proto.node[1].op


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ((("a", "Neg", "b"), ("b", "Neg", "a")), "cycle: "),
        ((("a", "NoOp", "^a"),), "cycle: "),
        ((("a", "Neg", "nowhere"),), "takes 'nowhere', which is not in the file"),
        ((("a", "NoOp"), ("a", "NoOp")), "two nodes named 'a'"),
        ((("", "NoOp"),), "without a name"),
        ((("a", "NoOp"), ("b", "Neg", "a:x")), "a:x"),
        ((), "it is empty"),
    ],
)
def test_broken_graphs(nodes: tuple[tuple[str, ...], ...], said: str) -> None:
    with pytest.raises(GradstepError, match=said) as caught:
        graphdef_import.from_pb(_proto(*nodes).SerializeToString(), "x.pb")
    assert "\n" not in caught.value.message
    assert caught.value.hint


def test_cut_off_and_foreign_files() -> None:
    data = (GRAPHS / "two_path_gradient.pb").read_bytes()
    with pytest.raises(GradstepError, match="is a GraphDef that is cut off or damaged"):
        graphdef_import.from_pb(data[:-3], "x.pb")
    with pytest.raises(GradstepError, match="not text"):
        graphdef_import.from_pbtxt(b"\xff\xfe" + data, "x.pbtxt")
    with pytest.raises(GradstepError, match="2:3"):
        graphdef_import.from_pbtxt(b"node {\n  nome: 'a'\n}", "x.pbtxt")


@given(st.binary(max_size=300))
def test_noise_is_refused(noise: bytes) -> None:
    for reader in (graphdef_import.from_pb, graphdef_import.from_pbtxt):
        with pytest.raises(GradstepError):
            reader(noise, "noise")


def _constant(*sizes: int, values: int = 1) -> Any:
    """A GraphDef of a Const `a` that lists so many values of all that it declares."""
    proto = _proto(("a", "Const"))
    proto.node[0].attr["dtype"].type = 1
    tensor = proto.node[0].attr["value"].tensor
    tensor.dtype = 1
    for size in sizes:
        tensor.tensor_shape.dim.add(size=size)
    tensor.float_val.extend(range(values))
    return proto


def test_a_huge_constant_of_one_value_takes_no_memory() -> None:
    """Neither when it is read, nor in a document, nor when it is written: TensorFlow keeps it as
    one value, and so do we."""
    data = _constant(10**6, 10**6).SerializeToString()
    document = graphdef_import.from_pb(data, "x.pb")
    value = document.graph["a"].attrs["value"]
    assert value.array.shape == (10**6, 10**6)
    assert value.array.strides == (0, 0)
    written = gradstep_file.to_bytes(document)
    assert len(written) < 5000
    assert gradstep_file.from_bytes(written).graph["a"].attrs["value"] == value
    assert hash(value) == hash(Constant(value.array))
    again = graphdef_import.from_pb(graphdef_export.to_pb(document), "x.pb")
    assert again.graph["a"].attrs["value"] == value


def test_a_constant_that_has_to_be_filled_up_is_weighed_before() -> None:
    with pytest.raises(OverBudgetError, match=r"x.pb: it takes 3,725 GiB.*1 nodes.*'a'") as caught:
        graphdef_import.from_pb(_constant(10**12, values=2).SerializeToString(), "x.pb")
    assert caught.value.needed >= 4 * 10**12
    assert "--memory" in caught.value.hint
    small = graphdef_import.from_pb(_constant(2000, values=2).SerializeToString(), "x.pb")
    np.testing.assert_array_equal(small.graph["a"].attrs["value"].array, [0] + [1] * 1999)


@pytest.mark.parametrize("sizes", [(2**62, 0), (2**62, 2**62), (2**40, 2**40, 0)])
def test_sizes_that_numpy_cannot_count_are_refused(sizes: tuple[int, ...]) -> None:
    with pytest.raises(GradstepError, match=r"node 'a': .*larger than any memory") as caught:
        graphdef_import.from_pb(_constant(*sizes, values=0).SerializeToString(), "x.pb")
    assert caught.value.kind == "FileError"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"dtype": 1, "float_val": [1.5]}, np.float32([1.5, 1.5, 1.5])),
        ({"dtype": 1, "float_val": [1, 2]}, np.float32([1, 2, 2])),
        ({"dtype": 1}, np.float32([0, 0, 0])),
        ({"dtype": 19, "half_val": [0x3C00]}, np.float16([1, 1, 1])),
        ({"dtype": 10, "bool_val": [True, False]}, np.array([True, False, False])),
        ({"dtype": 6, "int_val": [-1]}, np.int8([-1, -1, -1])),
        ({"dtype": 23, "uint64_val": [2**64 - 1]}, np.uint64([2**64 - 1] * 3)),
        ({"dtype": 8, "scomplex_val": [1, 2]}, np.complex64([1 + 2j] * 3)),
        ({"dtype": 7, "string_val": [b"a\0"]}, np.array([b"a\0"] * 3, dtype=object)),
        ({"dtype": 103, "int_val": [4]}, np.int32([4, 4, 4])),
    ],
)
def test_short_lists_repeat_their_last_value(fields: dict[str, Any], expected: np.ndarray) -> None:
    proto = message("TensorProto")(**fields)
    proto.tensor_shape.dim.add(size=3)
    read_back = read_tensor(proto)
    np.testing.assert_array_equal(read_back, expected)
    assert read_back.dtype == expected.dtype


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"dtype": 1, "float_val": [1] * 5}, "declares 3 elements but lists 5"),
        ({"dtype": 1, "tensor_content": b"1234"}, "12 bytes, but holds 4"),
        ({"dtype": 11}, "DT_QINT8 is not supported"),
        ({"dtype": 99}, "DataType 99"),
        ({"dtype": 20}, "cannot be of type resource"),
    ],
)
def test_bad_tensors(fields: dict[str, Any], said: str) -> None:
    proto = message("TensorProto")(**fields)
    proto.tensor_shape.dim.add(size=3)
    with pytest.raises(GradstepError, match=said):
        read_tensor(proto)


@given(constants())
def test_tensors_round_trip(constant: Constant) -> None:
    assert Constant(read_tensor(write_tensor(constant.array))) == constant


@given(attributes)
def test_attributes_round_trip(value: Any) -> None:
    if isinstance(value, tuple) and len({type(v) for v in value}) > 1:
        return  # a list in a GraphDef is of one type
    again = read_attribute(write_attribute(value))
    assert repr(again) == repr(_narrowed(value))
    if isinstance(value, Constant):
        assert again == value


def test_a_whole_number_in_a_float_attribute_is_written_as_a_float() -> None:
    assert write_attribute(1, like=0.5).WhichOneof("value") == "f"
    assert write_attribute(True, like=0.5).WhichOneof("value") == "b"


def test_partial_shapes_and_types() -> None:
    for value in (Shape(None), Shape(()), Shape.of(None, 3), DType.RESOURCE, (), b"\xff"):
        assert read_attribute(write_attribute(value)) == value


def _narrowed(value: Any) -> Any:
    """What a GraphDef can hold: floats of 32 bits, text instead of bytes that are text."""
    if isinstance(value, tuple):
        return tuple(_narrowed(v) for v in value)
    if isinstance(value, float):
        with np.errstate(over="ignore"):
            return float(np.float32(value))
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value
    return value


def _proto(*nodes: tuple[str, ...]) -> Any:
    proto = message("GraphDef")()
    for name, kind, *inputs in nodes:
        proto.node.add(name=name, op=kind, input=inputs)
    return proto


def test_text_too_long_to_read_is_refused_before_it_takes_the_memory() -> None:
    text = b'node { name: "a" op: "NoOp" }\n' + b"#" * 20_000
    with pytest.raises(OverBudgetError, match=r"x.pbtxt: it takes .* a graph as 20 KiB of text"):
        graphdef_import.from_pbtxt(text, "x.pbtxt", Budget(1 << 20))
