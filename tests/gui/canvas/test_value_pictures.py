"""Small pictures of values on the canvas: of what, where, and when they are asked for."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication

from gradstep.core.graph.model import Operation
from gradstep.core.protocol.messages import DrawTensor, ReadTable, Stats
from gradstep.gui.canvas.paint.picture_cards import AWAY, REACH, place
from gradstep.gui.canvas.scene.picture_choice import PIXELS, PLANES, wish_for
from gradstep.gui.canvas.scene.value_pictures import KEPT, ValuePicture, ValuePictures
from gradstep.gui.model.value_cache import TensorValue
from tests.gui.canvas.test_same_picture import assert_as_new, seen

SCALE = 0.9
EDGES = 500  # bytes of pixels; a picture has thousands


def known(*shape: int, dtype: str = "float32", least: float = 0.0) -> TensorValue:
    return TensorValue("x:0", "known", dtype, shape, stats=Stats(minimum=least, maximum=1.0))


@pytest.mark.parametrize(
    ("type", "shape", "expected"),
    [
        ("Placeholder", (40, 64), (8, 8, 8)),
        ("Placeholder", (3, 784), (3, 28, 28)),
        ("Placeholder", (40, 63), None),
        ("MatMul", (40, 64), None),
        ("Placeholder", (40, 8, 8, 1), (8, 8, 8)),
        ("Placeholder", (2, 3, 9, 9), (2, 9, 9)),
        ("Const", (8, 9, 3), (1, 8, 9)),
        ("VariableV2", (3, 3, 1, 6), (6, 3, 3)),
        ("VariableV2", (1, 1, 8, 8), None),
        ("Conv2D", (40, 8, 8, 6), (6, 8, 8)),
        ("Softmax", (2, 4, 7, 7), (4, 7, 7)),
        ("Softmax", (40, 10), None),
        ("Placeholder", (2, 4096, 4096, 3), None),
        ("Const", (), None),
        ("Const", (0, 8, 8, 3), None),
    ],
)
def test_what_is_drawn(
    type: str, shape: tuple[int, ...], expected: tuple[int, int, int] | None
) -> None:
    wish = wish_for(Operation("x", type), known(*shape))
    found = None if wish is None else (wish.planes, wish.rows, wish.columns)
    assert found == expected


def test_rows_below_zero_are_no_digits() -> None:
    assert wish_for(Operation("x", "Placeholder"), known(40, 64, least=-1.0)) is None


@given(
    type=st.sampled_from(("Placeholder", "Const", "Softmax", "Conv2D")),
    shape=st.lists(st.integers(0, 70), max_size=5).map(tuple),
    dtype=st.sampled_from(("float32", "uint8", "string", "complex64", "bool", "resource")),
)
def test_no_shape_is_more_than_a_few_small_pictures(
    type: str, shape: tuple[int, ...], dtype: str
) -> None:
    wish = wish_for(Operation("x", type), known(*shape, dtype=dtype))
    if wish is not None:
        assert 1 <= wish.planes <= PLANES
        assert dtype not in ("string", "complex64", "resource")
        assert not wish.square or wish.rows * wish.columns == shape[1]


class Arrays:
    """Nodes, and no frames."""

    @property
    def occupied(self) -> np.ndarray:
        return self.rects

    def __init__(self, rects: list[tuple[int, int]]) -> None:
        self.rects = np.array([(x, y, 172, 60) for x, y in rects], float)


PLACES = st.tuples(st.integers(-400, 400), st.integers(-200, 200))


@given(others=st.lists(PLACES, max_size=8), rows=st.integers(2, 40), columns=st.integers(2, 40))
def test_a_card_covers_no_node(others: list[tuple[int, int]], rows: int, columns: int) -> None:
    arrays: Any = Arrays([(0, 0), *others])
    values = np.zeros((8, rows, columns))
    picture = ValuePicture(values, values.astype(np.uint8), 0, 1, True, "float32")
    card = place(arrays, 0, picture, ("below", "above", "left"))
    if card is None:
        return
    x, y, width, height = arrays.rects.T
    over = (x < card.right()) & (card.left() < x + width)
    over &= (y < card.bottom()) & (card.top() < y + height)
    assert not over.any()
    assert card.left() >= -AWAY
    assert card.top() >= -REACH
    assert card.bottom() <= 60 + REACH


# -- on the canvas ---------------------------------------------------------------------------------


@pytest.fixture
def near(canvas: Any) -> Any:
    """At a network of images, near by, after a run; all that it asks for is noted."""
    canvas.view.resize(1400, 600)
    canvas.open("cnn_digits")
    canvas.space.ask_window("open_scopes")
    canvas.space.control("run_to", f"0:{len(canvas.space.program.steps)}")
    canvas.asked = []
    send = canvas.space.bridge.send

    def noted(message: Any, *rest: Any) -> None:
        canvas.asked += [message] if isinstance(message, DrawTensor | ReadTable) else []
        send(message, *rest)

    canvas.space.bridge.send = noted
    look(canvas, SCALE)
    return canvas


def look(canvas: Any, scale: float, name: str = "conv1/convolution") -> np.ndarray:
    canvas.view.camera.zoom_to(scale)
    canvas.view.camera.look_at(canvas.view.box_rect(canvas.number(name)).center())
    return seen(canvas.view)


def drawn(canvas: Any) -> dict[str, ValuePicture]:
    pictures = canvas.view.stage.pictures
    return {value.ref: picture for value, picture in pictures._kept.items()}


@pytest.mark.slow
def test_images_kernels_and_features_are_drawn_as_they_are(near: Any) -> None:
    found = drawn(near)
    frame = near.space.bridge._service._session.frame()
    images, features = frame.value("images"), frame.value("conv1/convolution")
    kernel = frame.value("conv1/kernel")
    np.testing.assert_array_equal(found["images:0"].values, images[:8, ..., 0])
    np.testing.assert_array_equal(
        found["conv1/convolution:0"].values, np.moveaxis(features[0], -1, 0)
    )
    np.testing.assert_array_equal(
        found["conv1/kernel:0"].values, np.moveaxis(kernel[:, :, 0], -1, 0)
    )


@pytest.mark.slow
def test_each_value_is_asked_for_once_and_in_view(near: Any) -> None:
    asked = [message.of.ref for message in near.asked]
    assert "conv1/convolution:0" in asked
    assert len(asked) == len({*asked})
    assert "dense/product:0" not in asked
    assert all(m.height <= PIXELS and m.planes <= PLANES for m in near.asked)
    for _ in range(3):
        near.view.viewport().update()
        seen(near.view)
    near.space.select(["conv1/pool"])
    seen(near.view)
    assert [message.of.ref for message in near.asked] == asked


@pytest.mark.slow
def test_they_follow_the_step(near: Any) -> None:
    before = drawn(near)["conv1/convolution:0"]
    near.space.control("run_to", f"1:{len(near.space.program.steps)}")
    seen(near.view)
    after = drawn(near)["conv1/convolution:0"]
    frame = near.space.bridge._service._session.frame()
    np.testing.assert_array_equal(
        after.values, np.moveaxis(frame.value("conv1/convolution")[0], -1, 0)
    )
    assert after is not before
    assert len(near.view.stage.pictures._kept) <= KEPT


@pytest.mark.slow
def test_far_away_nothing_is_asked_for(near: Any) -> None:
    near.asked.clear()
    near.view.camera.zoom_to(0.3)
    near.space.control("run_to", f"1:{len(near.space.program.steps)}")
    seen(near.view)
    assert near.asked == []


@pytest.mark.slow
def test_they_are_switched_off_in_the_view_menu(near: Any) -> None:
    shown = seen(near.view)
    near.space.ask_window("pictures")
    hidden = seen(near.view)
    assert (shown != hidden).any()
    near.asked.clear()
    near.space.control("run_to", f"1:{len(near.space.program.steps)}")
    seen(near.view)
    assert near.asked == []
    near.space.control("run_to", f"0:{len(near.space.program.steps)}")
    near.space.ask_window("pictures")
    assert np.array_equal(seen(near.view), shown)


@pytest.mark.slow
def test_after_any_steps_it_is_the_picture_of_a_new_canvas(near: Any) -> None:
    """What is painted anew where a picture changed is all that there is to be."""
    random, end = Random(1), len(near.space.program.steps)
    for number in range(12):
        moves = (
            lambda: near.step(random.randrange(1, 5)),
            lambda: near.space.control("run_to", f"{random.randrange(3)}:{random.randrange(end)}"),
            lambda: near.space.select([random.choice(["images", "conv1/kernel", "conv1/relu"])]),
        )
        random.choice(moves)()
        seen(near.view)
        if number % 4 == 3:
            look(near, SCALE)
            assert_as_new(near)
            QApplication.processEvents()


@pytest.mark.slow
def test_pictures_come_whole_into_a_view_that_is_moved(near: Any) -> None:
    """What is painted strip by strip is what is painted at once, but for the edge of a line."""
    for right, down in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        look(near, SCALE, "conv1/kernel")
        for _ in range(3):
            for _ in range(8):
                near.view.camera.pan(QPoint(40 * right, 40 * down))
                near.view.viewport().grab()
            moved = seen(near.view)
            near.view.layers.refresh()
            assert (moved != seen(near.view)).sum() < EDGES


def test_a_picture_is_looked_for_until_it_is_here(
    canvas: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, by what says where to paint and by what paints; and again only where it is awaited."""
    canvas.open("tutorial")
    canvas.view.camera.zoom_to(SCALE)
    canvas.step(1)
    looked, awaited, of = list[str](), {"c"}, ValuePictures.of

    def noted(self: ValuePictures, op: Operation) -> ValuePicture | None:
        looked.append(op.name)
        self.awaited += op.name in awaited
        return of(self, op)

    monkeypatch.setattr(ValuePictures, "of", noted)
    seen(canvas.view)
    canvas.step(1)
    seen(canvas.view)
    assert {"a", "c"} <= {*looked}
    looked.clear()
    canvas.space.select(["a"])
    seen(canvas.view)
    assert looked == ["c"]
    awaited.clear()
    looked.clear()
    for name in ("c", "a", "d"):
        canvas.space.select([name])
        seen(canvas.view)
    assert looked == ["c"]
    canvas.view.stage.pictures.toggle()
    seen(canvas.view)
    assert {"a", "c"} <= {*looked[1:]}
