"""[n] against [n, 1], by accident and on purpose."""

from __future__ import annotations

from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.diagnosing import drawn, findings
from tests.support.each_case import each_of


def found(
    prediction: list[int | None], labels: list[int | None], learned: bool = False
) -> list[str]:
    """A squared difference of predictions and labels of these shapes. learned: the labels are."""

    def draw(b: GraphBuilder) -> None:
        x, w = b.placeholder("x", shape=prediction), b.variable("w")
        y = tf.multiply(x, w, name="y")
        given = b.placeholder("labels", shape=labels)
        against = tf.multiply(given, w, name="z") if learned else given
        tf.reduce_mean(tf.square(tf.subtract(y, against, name="error"), name="s"), name="loss")

    return [
        f.text
        for f in findings(drawn(draw, "loss", ["w"], initial={"w": 1.0}), "broadcast-by-accident")
    ]


def test_a_column_of_predictions_against_a_row_of_labels() -> None:
    (text,) = found([4, 1], [4])
    assert "error holds y [4, 1] against labels [4], which gives [4, 4]" in text


def test_of_any_number_of_rows() -> None:
    (text,) = found([None, 1], [None])
    assert "which gives [n, n]" in text


@each_of(
    ("prediction", "labels"),
    [
        ([4, 1], [4, 1]),
        ([4], [4]),
        ([4, 3], [3]),
        ([4, 1], [3]),
        ([1, 1], [1]),
        ([4, 1], []),
        ([4, 4], [4]),
    ],
)
def test_other_shapes_are_meant(prediction: list[int | None], labels: list[int | None]) -> None:
    assert not found(prediction, labels)


def test_every_point_against_every_other_is_a_table_of_distances() -> None:
    assert not found([4, 1], [4], learned=True)
