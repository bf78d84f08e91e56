"""Documents as scripts for NumPy, which are run here, and for PyTorch: see in_frameworks.py."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override, OverrideKind
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import CodeItem, CodeKind, Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.io.export_document import to_bytes
from gradstep.core.io.format_table import format_written_as, suffix_written
from gradstep.core.io.open_document import read
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.program.derive import derive
from tests.examples.build import FOLDER
from tests.support.planted_blocks import HEALTHY, SIZE, vector


def of_block(block: Callable[[Tensor], Tensor]) -> Document:
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=[SIZE])
        tf.reduce_sum(block(x) * vector(1, 2, 3, 5), name="loss")
    feeds = {"x:0": Constant(vector(0.3, 0.45, 0.6, 0.7))}
    request = GradientRequest.to("loss", "x")
    return Document(builder.build(), request, feeds=feeds, fetches=(TensorRef("loss"),))


def printed(document: Document, suffix: str = ".numpy.py") -> dict[str, str]:
    """What the script says, line by line."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(to_bytes(document, suffix), "script", "exec"), {"__name__": "script"})
    lines = re.sub(r"\n\s+", " ", said.getvalue()).splitlines()
    pairs = (re.fullmatch(r"((?:gradient by |by differences, )?\S+) (.*)", line) for line in lines)
    return {found[1]: found[2] for found in pairs if found is not None}


def numbers(text: str) -> np.ndarray:
    return np.array([float(x) for x in re.findall(r"-?\d[\d.e+-]*|nan|inf", text)])


# Loops are no lines of a script.
BLOCKS = [name for name in sorted(HEALTHY) if name != "a loop"]


@pytest.mark.parametrize("name", BLOCKS)
def test_values_gradients_and_differences_are_what_the_debugger_has(name: str) -> None:
    document = of_block(HEALTHY[name])
    session = DebugSession(derive(document, {}))
    session.continue_()
    loss, slope = session.frame().value("loss"), session.frame().gradient("x")
    said = printed(document)
    assert loss is not None
    assert slope is not None
    np.testing.assert_allclose(numbers(said["loss"]), loss.reshape(-1), rtol=1e-5)
    np.testing.assert_allclose(numbers(said["gradient by x"]), slope, rtol=1e-5, atol=1e-7)
    if "masked" not in name:  # differences of what is NaN where it is not chosen
        np.testing.assert_allclose(numbers(said["by differences, x"]), slope, rtol=1e-3, atol=1e-4)


def test_the_second_output_of_a_loss_by_logits_is_written_where_its_gradient_reads_it() -> None:
    document = read(FOLDER / "tutorial.gradstep")
    session = DebugSession(derive(document, {}))
    session.continue_()
    said = printed(document)
    for name in ("c", "k"):
        slope = session.frame().gradient(name)
        assert slope is not None
        np.testing.assert_allclose(numbers(said[f"gradient by {name}"]), slope, rtol=1e-5)
        np.testing.assert_allclose(numbers(said[f"by differences, {name}"]), slope, rtol=1e-3)


@pytest.mark.slow
def test_the_scripts_of_examples_run() -> None:
    """But for those that are to fail, as the document does."""
    ran = 0
    for path in sorted(FOLDER.glob("*.gradstep")):
        document = read(path)
        with contextlib.suppress(GradstepError):
            to_bytes(document, ".numpy.py")
            ran += 1
            with pytest.raises(IndexError) if "gather" in path.stem else contextlib.nullcontext():
                printed(document)
    assert ran > 30


def pieces(x: Tensor, type: str, *inputs: object, **attrs: object) -> list[Tensor]:
    return x.builder.op(type, *inputs, **attrs)


def normalized(x: Tensor, shape: list[int], form: str, training: bool, **attrs: object) -> Tensor:
    """x normalized as images of two channels, and what the running averages become."""
    images = tf.reshape(x, shape)
    empty = np.zeros(0, np.float32)
    given = [empty, empty] if training and not attrs else [vector(0.1, -0.2), vector(1.5, 0.7)]
    y, mean, variance, *_ = pieces(
        x, "FusedBatchNormV3", images * images, vector(0.5, 2), vector(1, -1), *given,
        data_format=form, is_training=training, epsilon=0.01, **attrs,
    )  # fmt: skip
    y = y if len(shape) == 4 else tf.transpose(y, [0, 2, 3, 4, 1])
    kept = tf.stop_gradient(mean) * 2.0 + tf.stop_gradient(variance)
    return tf.reshape(y * vector(1, 3) if form.endswith("C") or len(shape) == 5 else y, [SIZE]) * (
        1.0 + tf.reduce_sum(kept)
    )


def sliced(x: Tensor) -> Tensor:
    square = tf.reshape(x, [2, 2])
    return tf.concat([square[::-1, 0], square[..., 1], square[1:, None, :][0, 0, :1], x[-1:]], 0)[
        1:5
    ]


def split(x: Tensor) -> Tensor:
    a, b = pieces(x, "Split", np.int32(0), x, num_split=2)
    c, d, e = pieces(x, "SplitV", x * x, np.array([1, -1, 1], np.int32), np.int32(0), num_split=3)
    first, _, third, _ = pieces(x, "Unpack", tf.reshape(x, [4, 1]), num=4, axis=0)
    (only,) = pieces(x, "Unpack", tf.reshape(x, [2, 1, 2]), num=1, axis=1)
    last = tf.reshape(only, [4]) * tf.concat([first, d, third], 0)
    return tf.concat([a * b, c * e, e], 0)[0:1] * last


MANY: dict[str, Callable[[Tensor], Tensor]] = {
    "slices": sliced,
    "pieces": split,
    "of a batch": lambda x: normalized(x, [2, 1, 1, 2], "NHWC", True),
    "of a batch, mixed": lambda x: normalized(
        x, [2, 2, 1, 1], "NCHW", True, exponential_avg_factor=0.25
    ),
    "of a batch of volumes": lambda x: normalized(x, [2, 2, 1, 1, 1], "NCDHW", True),
    "in use": lambda x: normalized(x, [2, 1, 1, 2], "NHWC", False),
    "in use, channels first": lambda x: normalized(x, [2, 2, 1, 1], "NCHW", False),
}


def run_here(document: Document) -> tuple[np.ndarray, np.ndarray]:
    """The loss, and its gradient by x."""
    session = DebugSession(derive(document, {}))
    session.continue_()
    loss, slope = session.frame().value("loss"), session.frame().gradient("x")
    assert loss is not None
    assert slope is not None
    return loss.reshape(-1), slope


@pytest.mark.parametrize("name", MANY)
def test_operations_with_several_outputs_are_written(name: str) -> None:
    """Differences move what a stop holds, too: there they are other numbers."""
    document = of_block(MANY[name])
    loss, slope = run_here(document)
    said = printed(document)
    np.testing.assert_allclose(numbers(said["loss"]), loss, rtol=1e-5)
    np.testing.assert_allclose(numbers(said["gradient by x"]), slope, rtol=1e-4, atol=1e-6)
    if "of a batch" not in name:
        np.testing.assert_allclose(numbers(said["by differences, x"]), slope, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", MANY)
def test_operations_with_several_outputs_are_written_for_pytorch(name: str) -> None:
    """Run where there is a PyTorch."""
    document = of_block(MANY[name])
    compile(to_bytes(document, ".torch.py"), "script", "exec")
    pytest.importorskip("torch")
    said = printed(document, ".torch.py")
    loss, slope = run_here(document)
    np.testing.assert_allclose(numbers(said["loss"]), loss, rtol=1e-5)
    np.testing.assert_allclose(numbers(said["gradient by x"]), slope, rtol=1e-4, atol=1e-6)


def test_an_output_that_nobody_reads_has_no_name() -> None:
    text = to_bytes(of_block(split), ".torch.py").decode()
    assert re.search(r"Unpack, _, Unpack_2, _ = torch.unbind\(", text)
    assert re.search(r"Unpack_1\w*, = torch.unbind\(", text)
    batch = to_bytes(of_block(MANY["in use"]), ".torch.py").decode()
    assert re.search(r"\w+, \w+, \w+, \*_ = batch_norm\(", batch)


def test_another_output_than_the_first_can_be_asked_for() -> None:
    document = of_block(lambda x: tf.concat(pieces(x, "Split", np.int32(0), x, num_split=2), 0))
    asked = document.with_(fetches=(TensorRef("Split", 1),))
    np.testing.assert_allclose(numbers(printed(asked)["Split:1"]), [0.6, 0.7], rtol=1e-6)
    assert b"Split_1.detach().numpy()" in to_bytes(asked, ".torch.py")


def overridden(source: str, kind: CodeKind) -> Document:
    document = of_block(lambda x: tf.square(x, name="planted"))
    request = replace(document.request, overrides=(Override("Mine", "planted", OverrideKind.OP),))
    return document.with_(request=request, code={"Mine": CodeItem("Mine", kind, source)})


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("def mine(op, grad):\n    return op.inputs[0] * grad\n", CodeKind.GRADIENT),
        ("def mine(grad, x):\n    return np.multiply(x, grad)\n", CodeKind.NUMPY_GRADIENT),
    ],
)
def test_a_function_of_the_document_is_called_and_held_to_differences(
    source: str, kind: CodeKind
) -> None:
    document = overridden(source, kind)
    said = printed(document)
    x = np.array([0.3, 0.45, 0.6, 0.7])
    np.testing.assert_allclose(numbers(said["gradient by x"]), x * [1, 2, 3, 5], rtol=1e-5)
    by_differences = numbers(said["by differences, x"])
    np.testing.assert_allclose(by_differences, 2 * x * [1, 2, 3, 5], rtol=1e-4)
    text = to_bytes(document, ".torch.py").decode()
    assert "class Mine_at_planted(torch.autograd.Function)" in text
    compile(text, "script", "exec")


def test_a_stop_at_an_output_that_nobody_reads_is_of_no_name() -> None:
    document = of_block(
        lambda x: tf.concat([pieces(x, "Split", np.int32(0), x, num_split=2)[0]] * 2, 0)
    )
    (split,) = (op.name for op in document.graph if op.type == "Split")
    stops = frozenset((TensorRef(split, 0), TensorRef(split, 1)))
    document = document.with_(request=replace(document.request, stops=stops))
    text = to_bytes(document, ".torch.py").decode()
    assert f"{split}, _ = torch.tensor_split" in text
    assert f"{split} = {split}.detach()" in text
    assert f"{split}_1" not in text


def test_what_calls_tensorflow_is_for_tensorflow() -> None:
    document = overridden("def mine(op, grad):\n    return tf.square(grad)\n", CodeKind.GRADIENT)
    for suffix in (".numpy.py", ".torch.py"):
        with pytest.raises(GradstepError, match="'Mine' calls TensorFlow"):
            to_bytes(document, suffix)
    assert b"RegisterGradient('Mine')" in to_bytes(document, ".py")


def test_the_script_for_tensorflow_has_differences_where_a_gradient_is_doubted() -> None:
    document = overridden("def mine(op, grad):\n    return grad\n", CodeKind.GRADIENT)
    assert b"by differences, x" in to_bytes(document, ".py")
    native = document.with_(request=replace(document.request, overrides=()))
    assert b"differences" not in to_bytes(native, ".py")


@pytest.mark.parametrize(
    ("name", "match"),
    [("while_loop", "cannot be written as a script"), ("queue_deadlock", "cannot be written")],
)
def test_what_is_no_line_of_a_script_is_refused_at_its_node(name: str, match: str) -> None:
    document = read(FOLDER / f"{name}.gradstep")
    for suffix in (".numpy.py", ".torch.py"):
        with pytest.raises(GradstepError, match=match) as error:
            to_bytes(document, suffix)
        assert error.value.node


def test_a_placeholder_without_a_value_is_said() -> None:
    document = of_block(tf.identity).with_(feeds={})
    with pytest.raises(GradstepError, match="nothing is known to be in 'x'"):
        to_bytes(document, ".numpy.py")


def test_the_longest_suffix_names_the_format() -> None:
    assert suffix_written("a/b.torch.py") == ".torch.py"
    assert suffix_written("b.Numpy.PY") == ".numpy.py"
    assert suffix_written("b.py") == ".py"
    assert suffix_written("b.xyz") == ".xyz"
    assert format_written_as(".torch.py").title == "PyTorch script"


def odd(type: str, inputs: tuple[TensorRef, ...] = (), **attrs: object) -> Document:
    graph = Graph({"odd": Operation("odd", type, inputs, attrs=attrs)})
    return Document(graph, fetches=(TensorRef("odd"),))


@pytest.mark.parametrize("suffix", [".numpy.py", ".torch.py"])
@pytest.mark.parametrize(
    ("document", "match"),
    [
        (odd("Const", dtype=DType.INT32, value="text"), "attribute 'value' must be a tensor"),
        (odd("Relu"), "Relu takes 1 input"),
        (odd("PyFunc", Tin=(), Tout=(DType.FLOAT32,)), "odd|token"),
        (
            odd("PyFunc", Tin=(), Tout=(DType.FLOAT32,), token="gradient function f", counts=(0,)),
            ".",
        ),
        (Document(Graph()), "nothing is asked"),
    ],
)
def test_what_cannot_run_is_refused_in_words(document: Document, match: str, suffix: str) -> None:
    with pytest.raises(GradstepError, match=match) as said:
        to_bytes(document, suffix)
    assert said.value.kind != "InternalError"


@pytest.mark.parametrize("suffix", [".py", ".numpy.py", ".torch.py"])
def test_a_title_of_odd_characters_leaves_a_program(suffix: str) -> None:
    document = of_block(HEALTHY[BLOCKS[0]]).with_(title="a\0b\\", note='"""\0')
    compile(to_bytes(document, suffix), "script", "exec")
