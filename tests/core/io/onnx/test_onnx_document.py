"""ONNX models as users have them: opened through the door, run, differentiated, refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradstep.core.document.document import Document
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.io.open_document import read
from gradstep.core.program.derive import derive
from tests.support import onnx_models as onnx

RNG = np.random.default_rng(3)
MLP = onnx.graph(
    [
        onnx.node("Gemm", "x w b", "h", "/layer1/Gemm", transB=1),
        onnx.node("Relu", "h", "r"),
        onnx.node("MatMul", "r v", "y", "out"),
    ],
    {"x": ("float32", ["batch", 3])},
    {"y": ("float32", ["batch", 2])},
    {
        "w": RNG.normal(size=(4, 3)).astype(np.float32),
        "b": np.ones(4, np.float32),
        "v": RNG.normal(size=(4, 2)).astype(np.float32),
    },
)


def opened(folder: Path, data: bytes, name: str = "model.onnx") -> Document:
    path = folder / name
    path.write_bytes(data)
    return read(path)


def results(document: Document, **feeds: np.ndarray) -> list[np.ndarray]:
    program = derive(document)
    session = Session(program.graph, initial=program.initial)
    given = {f"{name}:0": array for name, array in feeds.items()}
    return [np.asarray(one) for one in session.run(list(document.fetches), given)]


def test_a_model_opens_and_runs(tmp_path: Path) -> None:
    document = opened(tmp_path, onnx.model(MLP))
    x = RNG.normal(size=(5, 3)).astype(np.float32)
    w, b, v = (c.array for c in (document.initial[n] for n in ("w", "b", "v")))
    (y,) = results(document, x=x)
    np.testing.assert_allclose(y, np.maximum(x @ w.T + b, 0) @ v, rtol=1e-5)
    assert "operator set 20" in document.note
    assert document.title == "model.onnx"


def test_each_operator_is_one_scope_of_its_name(tmp_path: Path) -> None:
    graph = opened(tmp_path, onnx.model(MLP)).graph
    marked = [op.attrs for op in graph if op.inputs and "_foreign_scope" in op.attrs]
    found = {attrs["_foreign_scope"]: attrs["_foreign_op"] for attrs in marked}
    assert found == {
        "layer1/Gemm": "onnx.Gemm.20",
        "Relu": "onnx.Relu.20",
        "out": "onnx.MatMul.20",
    }


def test_sizes_by_name_may_be_any(tmp_path: Path) -> None:
    graph = opened(tmp_path, onnx.model(MLP)).graph
    assert str(graph["x"].attrs["shape"]) == "[?, 3]"


@pytest.mark.parametrize("kind", [k for k in onnx.TYPES if not k.startswith(("f", "u", "i"))])
def test_element_types(tmp_path: Path, kind: str) -> None:
    array = np.array([1, 0, 1]).astype("bfloat16" if kind == "bfloat16" else kind)
    _same(tmp_path, array)


@pytest.mark.parametrize("kind", ["float16", "float64", "uint8", "int8", "uint16", "uint64"])
def test_other_element_types(tmp_path: Path, kind: str) -> None:
    _same(tmp_path, np.array([1, 2, 3], kind))


def _same(folder: Path, array: np.ndarray) -> None:
    made = onnx.graph([onnx.node("Identity", "w", "y")], {}, {}, {"w": array})
    made.output.add(name="y")
    (y,) = results(opened(folder, onnx.model(made)))
    assert y.dtype == array.dtype
    np.testing.assert_array_equal(y, array)


@pytest.mark.parametrize(
    ("kind", "values", "becomes"),
    [
        ("float8_e4m3fn", [0.5, -448, 0.875], "float32"),
        ("float8_e5m2", [1.5, -2, 0.25], "float32"),
        ("float8_e8m0fnu", [2, 0.5, 1], "float32"),
    ],
)
def test_numbers_of_eight_bits_are_widened(
    tmp_path: Path, kind: str, values: list[float], becomes: str
) -> None:
    made = onnx.graph([onnx.node("Identity", "w", "y")], {}, {}, {"w": onnx.small(kind, values)})
    made.output.add(name="y")
    (y,) = results(opened(tmp_path, onnx.model(made)))
    assert y.dtype == becomes
    np.testing.assert_array_equal(y, values)


@pytest.mark.parametrize(
    ("kind", "raw", "values"),
    [
        (21, b"\x21\x0f", [1, 2, 15]),
        (22, b"\x21\x0f", [1, 2, -1]),
        (23, b"\x21\x0a", [0.5, 1.0, -1.0]),
        (25, b"\x1b", [3, 2, 1]),
        (26, b"\x1b", [-1, -2, 1]),
    ],
)
def test_packed_numbers_are_unpacked(
    tmp_path: Path, kind: int, raw: bytes, values: list[float]
) -> None:
    made = onnx.graph([onnx.node("Identity", "w", "y")], {}, {})
    made.output.add(name="y")
    made.initializer.add(name="w", data_type=kind, dims=[3], raw_data=raw)
    (y,) = results(opened(tmp_path, onnx.model(made)))
    np.testing.assert_array_equal(y, values)


@pytest.mark.parametrize(
    ("number", "field", "values", "wanted"),
    [
        (1, "float_data", [1.5, 2.5], np.float32([1.5, 2.5])),
        (10, "int32_data", [0x3C00, 0xC000], np.float16([1, -2])),
        (6, "int32_data", [-1, 2], np.int32([-1, 2])),
        (3, "int32_data", [-1, 2], np.int8([-1, 2])),
        (9, "int32_data", [1, 0], np.array([True, False])),
        (7, "int64_data", [-1, 2**40], np.int64([-1, 2**40])),
        (11, "double_data", [0.1, 2], np.float64([0.1, 2])),
        (12, "uint64_data", [1, 2**31], np.uint32([1, 2**31])),
        (14, "float_data", [1, 2, 3, 4], np.complex64([1 + 2j, 3 + 4j])),
    ],
)
def test_numbers_that_are_listed(
    tmp_path: Path, number: int, field: str, values: list[Any], wanted: np.ndarray
) -> None:
    made = onnx.graph([onnx.node("Identity", "w", "y")], {}, {})
    made.output.add(name="y")
    made.initializer.add(name="w", data_type=number, dims=[2], **{field: values})
    (y,) = results(opened(tmp_path, onnx.model(made)))
    assert y.dtype == wanted.dtype
    np.testing.assert_array_equal(y, wanted)


def test_weights_are_trained_and_what_says_how_is_not(tmp_path: Path) -> None:
    made = onnx.graph(
        [
            onnx.node("BatchNormalization", "x scale offset mean var", "n"),
            onnx.node("Reshape", "n shape", "r"),
            onnx.node("Clip", "r low", "y"),
        ],
        {"x": ("float32", [2, 3, 2, 2])},
        {"y": ("float32", [2, 12])},
        {
            **{n: np.ones(3, np.float32) for n in ("scale", "offset", "mean", "var")},
            "shape": np.array([2, -1], np.int64),
            "low": np.float32(0.5),
        },
    )
    document = opened(tmp_path, onnx.model(made))
    assert {*document.initial} == {"scale", "offset", "mean", "var"}
    kept = [n for n in document.initial if document.graph[n].attrs.get("_trainable") is False]
    assert kept == ["mean", "var"]
    assert "shape" not in document.graph  # it says its shape where it is reshaped
    assert document.graph["low"].type == "Const"


def test_an_unknown_operator_is_kept_and_the_rest_runs(tmp_path: Path) -> None:
    made = onnx.graph(
        [
            onnx.node("Relu", "x", "h"),
            onnx.node("Frobnicate", "h", "z"),
            onnx.node("Neg", "z", "y"),
        ],
        {"x": ("float32", [2])},
        {"y": ("float32", [2]), "h": ("float32", [2])},
    )
    document = opened(tmp_path, onnx.model(made))
    (unknown,) = [op for op in document.graph if op.type.startswith("onnx.")]
    assert unknown.type == "onnx.Frobnicate.20"
    assert "there is no lowering of onnx.Frobnicate.20" in document.note
    session = Session(derive(document).graph)
    feeds = {"x:0": np.float32([-1, 2]), f"{unknown.name}:0": np.float32([3, 4])}
    h, y = session.run([TensorRef.parse("Relu/Relu"), TensorRef.parse("Neg/Neg")], feeds)
    np.testing.assert_array_equal(h, [0, 2])
    np.testing.assert_array_equal(y, [-3, -4])


def test_functions_of_the_model_are_opened(tmp_path: Path) -> None:
    call = onnx.node("Twice", "x", "y", "twice", by=3.0)
    call.domain = "mine"
    made = onnx.graph([call], {"x": ("float32", [2])}, {"y": ("float32", [2])})
    proto = onnx.message("ModelProto")()
    proto.ParseFromString(onnx.model(made))
    proto.opset_import.add(domain="mine", version=1)
    function = proto.functions.add(name="Twice", domain="mine", input=["a"], output=["c"])
    function.attribute.append("by")
    leaky = onnx.node("LeakyRelu", "a", "b")
    leaky.attribute.add(name="alpha", type=1, ref_attr_name="by")
    function.node.extend([leaky, onnx.node("Add", "b b", "c")])
    function.opset_import.add(domain="", version=20)
    document = opened(tmp_path, proto.SerializeToString())
    (y,) = results(document, x=np.float32([-1, 2]))
    np.testing.assert_array_equal(y, [-6, 4])
    assert any(op.name.startswith("twice/LeakyRelu/") for op in document.graph)


# -- what it gives ---------------------------------------------------------------------------------


def test_outputs_go_by_their_names_in_the_order_of_the_model(tmp_path: Path) -> None:
    """One that is called as an operator is, one that an input is, and a constant."""
    made = onnx.graph(
        [
            onnx.node("Add", "x w", "add", "add"),
            onnx.node("Mul", "add w", "m", "mul"),
            onnx.node("Constant", "", "two", value=np.float32([2])),
        ],
        {"x": ("float32", [2])},
        {"m": ("float32", [2]), "add": ("float32", [2]), "x": ("float32", [2]),
         "two": ("float32", [1]), "w": ("float32", [2])},
        {"w": np.float32([3, 4])},
    )  # fmt: skip
    document = opened(tmp_path, onnx.model(made))
    assert [ref.short for ref in document.fetches] == ["m", "add", "x", "two", "w"]
    assert document.targets == ("m", "add", "x", "two", "w")
    assert document.graph["add"].type == document.graph["m"].type == "Identity"
    assert document.graph["x"].type == "Placeholder"
    x = np.float32([1, 2])
    m, add, same, two, w = results(document, x=x)
    np.testing.assert_array_equal(m, (x + w) * w)
    np.testing.assert_array_equal(add, x + w)
    np.testing.assert_array_equal([*same, *two], [1, 2, 2])


def test_a_name_of_an_output_that_another_has_gets_a_number(tmp_path: Path) -> None:
    """Here names are of fewer letters, and small and capital ones alike."""
    made = onnx.graph(
        [onnx.node("Neg", "x", "X"), onnx.node("Abs", "x", "a:0"), onnx.node("Exp", "x", "a?0")],
        {"x": ("float32", [2])},
        {name: ("float32", [2]) for name in ("X", "a:0", "a?0")},
    )
    document = opened(tmp_path, onnx.model(made))
    assert [ref.short for ref in document.fetches] == ["X_1", "a_0", "a_0_1"]
    negative, size, power = results(document, x=np.float32([-1, 2]))
    np.testing.assert_array_equal(negative, [1, -2])
    np.testing.assert_array_equal(size, [1, 2])
    np.testing.assert_allclose(power, np.exp([-1, 2]), rtol=1e-6)


def test_two_outputs_that_are_the_same_are_two(tmp_path: Path) -> None:
    call = onnx.node("Both", "x", "a b", "both")
    call.domain = "mine"
    made = onnx.graph([call], {"x": ("float32", [1])}, {n: ("float32", [1]) for n in "ab"})
    proto = onnx.message("ModelProto")()
    proto.ParseFromString(onnx.model(made))
    proto.opset_import.add(domain="mine", version=1)
    function = proto.functions.add(name="Both", domain="mine", input=["p"], output=["q", "q"])
    function.node.append(onnx.node("Neg", "p", "q"))
    function.opset_import.add(domain="", version=20)
    a, b = results(opened(tmp_path, proto.SerializeToString()), x=np.float32([1]))
    assert a == b == -1


# -- files beside it -------------------------------------------------------------------------------


def _external(place: str, **more: str) -> bytes:
    made = onnx.graph([onnx.node("Identity", "w", "y")], {}, {})
    made.output.add(name="y")
    held = made.initializer.add(name="w", data_type=1, dims=[3], data_location=1)
    for key, value in {"location": place, **more}.items():
        held.external_data.add(key=key, value=value)
    return onnx.model(made)


def test_weights_beside_the_model(tmp_path: Path) -> None:
    (tmp_path / "weights.bin").write_bytes(bytes(8) + np.float32([1, 2, 3]).tobytes())
    document = opened(tmp_path, _external("weights.bin", offset="8", length="12"))
    (y,) = results(document)
    np.testing.assert_array_equal(y, [1, 2, 3])


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("../secret", "not in the model's folder"),
        ("/etc/passwd", "not in the model's folder"),
        ("C:\\secret", "not in the model's folder"),
        ("a\\..\\..\\secret", "not in the model's folder"),
        ("", "not in the model's folder"),
        ("link", "leads out of the model's folder"),
        ("nowhere", "No such file"),
        (".", "a folder"),
    ],
)
def test_nothing_outside_of_the_folder_is_read(tmp_path: Path, place: str, said: str) -> None:
    (tmp_path / "secret").write_bytes(np.float32([1, 2, 3]).tobytes())
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "link").symlink_to(tmp_path / "secret")
    with pytest.raises(GradstepError, match=said) as raised:
        opened(inner, _external(place))
    assert raised.value.kind == "FileError"


@pytest.mark.parametrize("offset", ["4", "99999999999", "-4", "x"])
def test_places_behind_the_end_are_refused(tmp_path: Path, offset: str) -> None:
    (tmp_path / "w").write_bytes(np.float32([1, 2, 3]).tobytes())
    with pytest.raises(GradstepError, match=r"behind the end|its offset is"):
        opened(tmp_path, _external("w", offset=offset))


# -- what is refused -------------------------------------------------------------------------------


def _changed(**change: Any) -> bytes:
    proto = onnx.message("ModelProto")()
    proto.ParseFromString(onnx.model(MLP))
    for name, value in change.items():
        getattr(proto.graph, name).extend(value)
    data: bytes = proto.SerializeToString()
    return data


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (onnx.model(MLP)[:-9], "cut off, or not a ModelProto"),
        (_changed(node=[onnx.node("Neg", "nowhere", "q")]), "takes 'nowhere', which is not before"),
        (_changed(node=[onnx.node("Neg", "h", "y")]), "two tensors of the name 'y'"),
        (
            _changed(
                initializer=[onnx.message("TensorProto")(name="q", data_type=1, dims=[1 << 40] * 2)]
            ),
            "larger than any memory",
        ),
        (
            _changed(
                initializer=[onnx.message("TensorProto")(name="q", data_type=1, dims=[1 << 29])]
            ),
            "has 0 bytes",
        ),
        (
            _changed(initializer=[onnx.message("TensorProto")(name="q", data_type=99)]),
            "element type number 99 is not supported",
        ),
    ],
)
def test_a_bad_file_is_refused_in_one_line(tmp_path: Path, data: bytes, said: str) -> None:
    with pytest.raises(GradstepError, match=said) as raised:
        opened(tmp_path, data)
    assert raised.value.kind == "FileError"
    assert "model.onnx" in raised.value.message
    assert "\n" not in raised.value.message


def test_a_function_in_itself_is_refused(tmp_path: Path) -> None:
    proto = onnx.message("ModelProto")()
    proto.ParseFromString(onnx.model(MLP))
    inner = onnx.node("Again", "a", "b")
    inner.domain = "mine"
    proto.functions.add(name="Again", domain="mine", input=["a"], output=["b"], node=[inner])
    call = proto.graph.node.add(op_type="Again", domain="mine", input=["y"], output=["z"])
    assert call.domain == "mine"
    with pytest.raises(GradstepError, match="'Again' is in itself"):
        opened(tmp_path, proto.SerializeToString())


def test_what_pytorch_noted_names_modules_and_lines(tmp_path: Path) -> None:
    """And what it computed while it exported is where it is read."""
    proto = onnx.message("ModelProto")()
    made = onnx.graph(
        [onnx.node("MatMul", "x val_0", "h", "node_linear"), onnx.node("Mul", "h val_1", "y", "m")],
        {"x": ("float32", [2, 3])},
        {"y": ("float32", [2, 2])},
        {"val_0": np.ones((3, 2), np.float32), "val_1": np.float32([0.5])},
    )
    proto.ParseFromString(onnx.model(made))
    proto.producer_name = "pytorch"
    noted = {
        "pkg.torch.onnx.name_scopes": "['', 'layers.0', 'layers.0.fc', 'linear']",
        "pkg.torch.onnx.stack_trace": 'File "/home/me/net.py", line 7, in forward\n    x = fc(x)\n'
        'File "/usr/lib/site-packages/torch/nn/linear.py", line 9, in forward\n    return 1',
    }
    for key, value in noted.items():
        proto.graph.node[0].metadata_props.add(key=key, value=value)
    document = opened(tmp_path, proto.SerializeToString())
    op = document.graph["layers/0/fc/linear/MatMul"]
    assert op.attrs["_source"] == "/home/me/net.py:7"
    assert {*document.initial} == {"layers/0/fc/val_0"}
    assert document.graph["val_1"].type == "Const"
    (y,) = results(document, x=np.ones((2, 3), np.float32))
    np.testing.assert_array_equal(y, np.full((2, 2), 1.5))
