"""Summaries: the very bytes of TensorFlow's messages, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.document.document import Document
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.io.export_document import to_bytes
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.formats.protobuf import bytes_field, float_field, length_fields
from tests.support.each_case import each_of
from tests.support.summary_messages import buckets, decode, summary

INF, NAN = np.inf, np.nan
LARGEST = float(np.finfo(np.float64).max)


def text(value: Any) -> np.ndarray:
    return np.array(value, object)


def run(type: str, *inputs: Any, known: bool = False) -> bytes:
    """What the op gives, its inputs constants or fed."""
    b, feeds = GraphBuilder(), {}
    tensors = []
    for i, x in enumerate(map(np.asarray, inputs)):
        if known:
            tensors.append(b.constant(x))
        else:
            tensors.append(b.placeholder(f"x{i}", DType.of(x.dtype)))
            feeds[f"x{i}"] = x
    b.op(type, *tensors, name="it")
    (found,) = Session(b.build()).run(["it"], feeds)
    assert (found.shape, found.dtype) == ((), object)
    content = found.item()
    assert isinstance(content, bytes)
    return content


def refusal(type: str, *inputs: Any, known: bool = False) -> GradstepError:
    with pytest.raises(GradstepError) as caught:
        run(type, *inputs, known=known)
    assert caught.value.node == "it"
    assert caught.value.hint
    return caught.value


# Bytes of TensorFlow 2.21, which writes a value of 0 and leaves out a tag of no letters.
@each_of(
    ("tags", "values", "wanted"),
    [
        ("a", np.float32(0), b"\n\x08\n\x01a\x15\x00\x00\x00\x00"),
        ("", np.float32(-0.0), b"\n\x05\x15\x00\x00\x00\x80"),
        ("a", np.float64(1e300), b"\n\x08\n\x01a\x15\x00\x00\x80\x7f"),
        ("a", np.float32(NAN), b"\n\x08\n\x01a\x15\x00\x00\xc0\x7f"),
        ("a", np.uint64(2**63 + 1), b"\n\x08\n\x01a\x15\x00\x00\x00_"),
        ("é", np.float16(1), b"\n\t\n\x02\xc3\xa9\x15\x00\x00\x80?"),
        (b"\xff\xfe", np.int8(1), b"\n\t\n\x02\xff\xfe\x15\x00\x00\x80?"),
        (["a", b"b"], np.float32([1, 2]),
         b"\n\x08\n\x01a\x15\x00\x00\x80?\n\x08\n\x01b\x15\x00\x00\x00@"),
        (np.zeros(0, object), np.zeros(0, np.float32), b""),
    ],
)  # fmt: skip
def test_scalars_are_tensorflows_bytes(tags: Any, values: Any, wanted: bytes) -> None:
    assert run("ScalarSummary", text(tags), values) == wanted


ZEROS = b"\0" * 8
ONE = b"\0\0\0\0\0\0\xf0?"
END = b"\xff\xff\xff\xff\xff\xff\xef\x7f"  # of the last bucket
ABOVE_ZERO = b"2\x18" + ZEROS + b"\x11\xea-\x81\x99\x97q=" + END


# Bytes of TensorFlow 2.21. The first of two zeros is both minimum and maximum, whatever its sign.
@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([1.0], b"\nf\n\x01h*a\t" + ONE + b"\x11" + ONE + b"\x19" + ONE + b"!" + ONE + b")" + ONE
         + b"2\x18\x08\x99i\x19\x15Z\xed?+\x14\xfa\xcd\xbe$\xf0?" + END
         + b":\x18" + ZEROS + ONE + ZEROS),
        ([], b"\n+\n\x01h*&\t" + END + b"\x11" + END[:-1] + b"\xff2\x08" + END + b":\x08" + ZEROS),
        ([0.0, -0.0], b"\nB\n\x01h*=\x19" + ZEROS[:-1] + b"@" + ABOVE_ZERO
         + b":\x18" + ZEROS + ZEROS[:-1] + b"@" + ZEROS),
        ([-0.0, 0.0], b"\nT\n\x01h*O\t" + ZEROS[:-1] + b"\x80\x11" + ZEROS[:-1] + b"\x80"
         + b"\x19" + ZEROS[:-1] + b"@" + ABOVE_ZERO
         + b":\x18" + ZEROS + ZEROS[:-1] + b"@" + ZEROS),
    ],
)  # fmt: skip
def test_histograms_are_tensorflows_bytes(values: list[float], wanted: bytes) -> None:
    for dtype in (np.float16, np.float32, np.float64):
        assert run("HistogramSummary", text("h"), np.array(values, dtype)) == wanted


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(1).normal(size=(50, 40)).astype(np.float32) * np.float32(1e-3),
        np.random.default_rng(2).normal(size=500) * 1e15,
        np.array([[-5, 0, 5], [0, 127, -128]], np.int8),
        np.array([2**63, 0, 2**64 - 1], np.uint64),
        np.array([1e300, LARGEST / 2, -LARGEST]),
        1e-12 * 1.1 ** np.arange(20),
    ],
)
def test_a_histogram_counts_what_is_there(values: np.ndarray) -> None:
    """Against a count one by one."""
    wanted = summary("h", histo=buckets(values)).item()
    assert run("HistogramSummary", text("h"), values) == wanted
    (found,) = decode(wanted)
    assert sum(found.histo.bucket) == found.histo.num == values.size


def test_a_number_on_an_edge_is_in_the_bucket_above_it() -> None:
    edge = 1e-12 * 1.1
    (found,) = decode(run("HistogramSummary", text("h"), np.array([edge])))
    assert found.histo.bucket_limit[:2] == [edge, edge * 1.1]
    assert found.histo.bucket[:2] == [0, 1]


def test_the_largest_number_is_in_the_last_bucket() -> None:
    (found,) = decode(run("HistogramSummary", text("h"), np.array([LARGEST])))
    assert (found.histo.bucket_limit[-1], found.histo.bucket[-1]) == (LARGEST, 1)


# Words of TensorFlow 2.21.
@pytest.mark.parametrize(
    ("tags", "values", "words"),
    [
        ("vec", np.ones((2, 2)), "[] != [2,2] (tag 'vec')"),
        (["a"], np.float32(1), "[1] != [] (tag 'a')"),
        (["a", "b"], np.ones(1), "[2] != [1]"),
    ],
)
def test_each_value_needs_a_tag(tags: Any, values: Any, words: str) -> None:
    wanted = f"tags and values are not the same shape: {words}"
    early = refusal("ScalarSummary", text(tags), values, known=True)
    late = refusal("ScalarSummary", text(tags), values)
    assert [early.message, late.message] == [wanted, wanted]
    assert [early.kind, late.kind] == ["ValueError", "InvalidArgumentError"]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1, NAN, INF], "Nan in summary histogram for: it"),
        ([1, -INF, NAN], "Infinity in Histogram for: it"),
    ],
)
def test_a_histogram_takes_numbers_alone(values: list[float], words: str) -> None:
    assert refusal("HistogramSummary", text("h"), np.array(values)).message == words


@pytest.mark.parametrize("known", [False, True])
def test_a_histogram_has_one_tag(known: bool) -> None:
    found = refusal("HistogramSummary", text(["h"]), np.ones(1), known=known)
    assert found.message == "tags must be scalar"


@pytest.mark.parametrize("type", ["ScalarSummary", "HistogramSummary"])
def test_element_types_are_tensorflows(type: str) -> None:
    for values in (np.array(True), np.array(1j), text("x")):
        assert f"{type} takes real numbers" in refusal(type, text("t"), values).message
    wrong = refusal(type, np.float32(1), np.float32(1))
    assert wrong.message == f"{type} takes tags of type string, not float32"


A, B = b"\n\x08\n\x01a\x15\x00\x00\x80?", b"\n\x08\n\x01b\x15\x00\x00\x00@"
NAMELESS = b"\n\x05\x15\x00\x00\x80?"


# Bytes of TensorFlow 2.21.
@each_of(
    ("inputs", "wanted"),
    [
        ([A], A),
        ([B, A], B + A),
        ([[A, B], b""], A + B),
        ([A + B, NAMELESS, NAMELESS], A + B + NAMELESS * 2),
        ([b"\x10\x05" + A], A),  # what else is in the message stays behind
        ([b""], b""),
    ],
)
def test_merging_puts_one_after_another(inputs: list[Any], wanted: bytes) -> None:
    assert run("MergeSummary", *map(text, inputs)) == wanted


# Words of TensorFlow 2.21.
@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ([A, A], "Duplicate tag a found in summary inputs"),
        ([B, [A, B]], "Duplicate tag b found in summary inputs"),
        ([b"junk"], "Could not parse one of the summary inputs"),
        ([A[:-1]], "Could not parse one of the summary inputs"),
        ([b"\x0a\x07\x0a\x02\xff\xfe\x0a\x01x"], "Could not parse one of the summary inputs"),
    ],
)
def test_what_cannot_be_merged(inputs: list[Any], words: str) -> None:
    assert refusal("MergeSummary", *map(text, inputs)).message == words


def test_only_summaries_are_merged() -> None:
    assert "MergeSummary takes summaries" in refusal("MergeSummary", np.float32(1)).message
    with pytest.raises(GradstepError, match="length 0 shorter than minimum length 1"):
        GraphBuilder().op("MergeSummary")


def test_long_texts_and_large_numbers_of_fields() -> None:
    message = bytes_field(1, b"x" * 300) + float_field(2, 1.5) + bytes_field(2000, b"far")
    assert message[:3] == b"\n\xac\x02"
    assert [list(length_fields(message, n)) for n in (1, 2, 2000)] == [[b"x" * 300], [], [b"far"]]


@pytest.mark.parametrize("broken", [b"\n", b"\n\x05abc", b"\x0b", b"\x02\x00", b"\xff" * 11])
def test_what_is_no_message_is_refused(broken: bytes) -> None:
    with pytest.raises(ValueError, match="not a protobuf message"):
        list(length_fields(broken, 1))


def test_no_gradient_flows_into_a_summary() -> None:
    b = GraphBuilder()
    x = b.placeholder("x", shape=())
    made = b.one("ScalarSummary", b.constant(text("t")), x)
    assert gradients(made, x) == [None]


def test_attributes_are_written_that_tensorflow_reads() -> None:
    b = GraphBuilder()
    one = b.one("ScalarSummary", b.constant(text("t")), b.constant(1.5), name="one")
    b.one("MergeSummary", one, one, name="both")
    saved = to_bytes(Document(b.build()), ".pbtxt").decode()
    assert 'key: "N"\n    value {\n      i: 2' in saved
    assert 'key: "T"\n    value {\n      type: DT_FLOAT' in saved
