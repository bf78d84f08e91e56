"""What is dropped on the canvas: an op type becomes a node there, a file the value of a node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QMenu

from gradstep.core.io.tensorflow.bundle_writer import write_bundle
from gradstep.gui.panels.palette_panel import MIME_TYPE


def mime(kind: str, content: bytes) -> QMimeData:
    data = QMimeData()
    data.setData(kind, content)
    return data


def offered(canvas: Any, data: QMimeData) -> bool:
    """Whether the canvas takes the drag at all."""
    event = QDragEnterEvent(
        QPointF(300, 200).toPoint(),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    event.ignore()
    QApplication.sendEvent(canvas.view.viewport(), event)
    return event.isAccepted()


@pytest.mark.slow
def test_a_dropped_type_becomes_a_node(canvas: Any) -> None:
    canvas.open("tutorial")
    data = mime(MIME_TYPE, b"Tanh")
    assert offered(canvas, data)
    place = QPointF(300, 200)
    drop = QDropEvent(
        place,
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    canvas.view.clearFocus()
    QApplication.sendEvent(canvas.view.viewport(), drop)
    assert canvas.view.focusWidget() is canvas.view, "keys are the canvas's now"
    (name,) = canvas.space.selection
    assert canvas.space.document.graph[name].type == "Tanh"
    wanted = canvas.view.pointer.on_grid(place.toPoint())
    assert canvas.space.document.view.positions[name] == wanted


def test_other_things_are_not_taken(canvas: Any) -> None:
    canvas.open("tutorial")
    assert not offered(canvas, mime("text/plain", b"Tanh"))


def files(*paths: Path) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return data


def drop_at(canvas: Any, place: QPoint, data: QMimeData) -> None:
    assert offered(canvas, data)
    none = Qt.KeyboardModifier.NoModifier
    copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    QApplication.sendEvent(
        canvas.view.viewport(), QDropEvent(QPointF(place), copy, data, left, none)
    )


def test_a_file_of_values_becomes_the_value_of_the_node(
    canvas: Any, qtbot: Any, tmp_path: Path
) -> None:
    canvas.open("tutorial")
    np.save(tmp_path / "x.npy", np.array([7, 8]))
    (tmp_path / "t.csv").write_text("a,b\n5,6\n")
    assert offered(canvas, files(tmp_path / "x.npy"))
    assert not offered(canvas, files(tmp_path / "x.gradstep")), "the window opens it"
    assert not offered(canvas, files(tmp_path / "x.npy", tmp_path / "t.csv"))
    for name, file in (("data", "x.npy"), ("c", "t.csv")):
        drop_at(canvas, canvas.middle(name), files(tmp_path / file))
        qtbot.waitUntil(lambda: not canvas.space.values.is_reading)
        assert canvas.space.selection == (name,)
    assert canvas.space.document.feeds["data:0"].array.tolist() == [7, 8]
    assert canvas.space.document.initial["c"].array.tolist() == [5, 6]
    assert canvas.said[-1] == ("info", "Initial value of c: float32[2]")
    canvas.space.undo_stack.undo()
    assert canvas.space.document.initial["c"].array.tolist() != [5, 6]


def test_a_folder_of_images_becomes_rows(canvas: Any, qtbot: Any, tmp_path: Path) -> None:
    canvas.open("softmax_digits")
    pixels = np.random.default_rng(0).integers(0, 17, (12, 8, 8), np.uint8)
    for number, image in enumerate(pixels):
        Image.fromarray(image).save(tmp_path / f"digit {number}.png")
    drop_at(canvas, canvas.middle("images"), files(tmp_path))
    qtbot.waitUntil(lambda: not canvas.space.values.is_reading)
    fed = canvas.space.document.feeds["images:0"].array
    np.testing.assert_array_equal(fed, pixels.reshape(fed.shape))
    (tmp_path / "digit 3.png").write_bytes((tmp_path / "digit 3.png").read_bytes()[:50])
    drop_at(canvas, canvas.middle("images"), files(tmp_path))
    qtbot.waitUntil(lambda: not canvas.space.values.is_reading)
    assert canvas.said[-1][0] == "error"
    assert "digit 3.png is damaged" in canvas.said[-1][1]
    assert canvas.space.document.feeds["images:0"].array is fed


def test_what_does_not_fit_changes_nothing(canvas: Any, qtbot: Any, tmp_path: Path) -> None:
    canvas.open("tutorial")
    before = canvas.space.document
    np.save(tmp_path / "x.npy", np.zeros((2, 2)))
    drop_at(canvas, canvas.middle("data"), files(tmp_path / "x.npy"))
    qtbot.waitUntil(lambda: not canvas.space.values.is_reading)
    assert canvas.said[-1][0] == "error"
    assert "shape [2, 2] does not fit [2]" in canvas.said[-1][1]
    drop_at(canvas, canvas.middle("e"), files(tmp_path / "x.npy"))
    assert "Drop x.npy on a placeholder" in canvas.said[-1][1]
    assert canvas.space.document is before


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_of_several_arrays_those_that_fit_are_offered(
    canvas: Any, qtbot: Any, tmp_path: Path, suffix: str
) -> None:
    canvas.open("tutorial")
    space = canvas.space
    path = tmp_path / f"x{suffix}"

    def drop(**arrays: np.ndarray) -> None:
        if suffix == ".npz":
            np.savez(path, **arrays)
        else:
            path.write_bytes(packed_tensors(arrays))
        drop_at(canvas, canvas.middle("data"), files(path))
        qtbot.waitUntil(lambda: not space.values.is_reading)

    def numbers(*values: float) -> np.ndarray:
        return np.array(values, np.float32)

    drop(images=np.zeros((2, 2), np.float32), a=numbers(3, 4), data=numbers(5, 6))
    menu = canvas.view.findChild(QMenu, "canvas.arrays")
    assert [action.text() for action in menu.actions()] == ["data  [2]", "a  [2]"]
    menu.actions()[1].trigger()
    menu.close()
    qtbot.waitUntil(lambda: not space.values.is_reading)
    assert space.document.feeds["data:0"].array.tolist() == [3, 4]
    drop(images=np.zeros((2, 2), np.float32), b=numbers(7, 8))
    assert space.document.feeds["data:0"].array.tolist() == [7, 8], "the only one that fits"
    drop(images=np.zeros((2, 2), np.float32), c=np.zeros((3, 1), np.float32))
    assert canvas.said[-1][0] == "error"
    assert "no array in x" in canvas.said[-1][1]
    assert "There are images [2, 2], c [3, 1]" in canvas.said[-1][1]
    drop(images=np.zeros((2, 2), np.float32), rows=numbers(1, 2, 3))
    assert "shape [3] does not fit [2]" in canvas.said[-1][1], "which can be mended by a click"
    drop(only=numbers(9, 9))
    assert space.document.feeds["data:0"].array.tolist() == [9, 9]
    path.write_bytes(b"PK nothing of the kind")
    drop_at(canvas, canvas.middle("data"), files(path))
    qtbot.waitUntil(lambda: not space.values.is_reading)
    assert canvas.said[-1][0] == "error"


def packed_tensors(arrays: dict[str, np.ndarray]) -> bytes:
    """As a .safetensors file has them."""
    header, data = {}, b""
    for name, array in arrays.items():
        ends = [len(data), len(data) + array.nbytes]
        header[name] = {"dtype": "F32", "shape": [*array.shape], "data_offsets": ends}
        data += array.tobytes()
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def test_another_number_of_rows_can_be_taken(canvas: Any, qtbot: Any, tmp_path: Path) -> None:
    """One click puts the value there and says so to the placeholder; one undo takes both back."""
    canvas.open("stop_gradient")
    before = canvas.space.document
    fixes: list[tuple[str, Any]] = []
    canvas.space.fix_offered.connect(lambda title, run: fixes.append((title, run)))
    np.save(tmp_path / "x.npy", np.arange(5))
    drop_at(canvas, canvas.middle("x"), files(tmp_path / "x.npy"))
    qtbot.waitUntil(lambda: not canvas.space.values.is_reading)
    assert canvas.said[-1][1].startswith("Fed to x: shape [5] does not fit [2]")
    assert canvas.space.document is before
    ((title, take),) = fixes
    assert title == "Take any number of rows"
    take()
    qtbot.waitUntil(lambda: not canvas.space.values.is_reading)
    after = canvas.space.document
    assert str(after.graph["x"].attrs["shape"]) == "[?]"
    assert after.feeds["x:0"].array.tolist() == [0, 1, 2, 3, 4]
    canvas.space.undo_stack.undo()
    assert canvas.space.document.graph["x"].attrs["shape"] == before.graph["x"].attrs["shape"]
    assert canvas.space.document.feeds["x:0"] == before.feeds["x:0"]


def test_a_checkpoint_becomes_the_variables(canvas: Any, qtbot: Any, tmp_path: Path) -> None:
    """On an empty place all of them, by name; on one of them its own."""
    canvas.open("tutorial")
    before = canvas.space.document
    values = {"c": np.float32([5, 6]), "k": np.float32([7, 8]), "other": np.float64(1)}
    write_bundle(str(tmp_path / "m.ckpt-3"), values)
    index = files(tmp_path / "m.ckpt-3.index")
    drop_at(canvas, QPoint(2, 2), index)
    qtbot.waitUntil(lambda: not canvas.space.values.is_reading)
    initial = canvas.space.document.initial
    assert {name: initial[name].array.tolist() for name in ("c", "k")} == {"c": [5, 6], "k": [7, 8]}
    level, said = canvas.said[-1]
    assert level == "note"
    assert said == (
        "2 variables of m.ckpt-3 are taken; one tensor of m.ckpt-3 belongs to no variable here: "
        "other"
    )
    assert canvas.space.undo_stack.undoText() == "Variables of m.ckpt-3"
    canvas.space.undo_stack.undo()
    assert canvas.space.document == before
    drop_at(canvas, canvas.middle("c"), index)
    qtbot.waitUntil(lambda: not canvas.space.values.is_reading)
    assert canvas.space.document.initial["c"].array.tolist() == [5, 6]
    assert canvas.space.document.initial["k"] == before.initial["k"]


def test_a_checkpoint_that_is_damaged_changes_nothing(
    canvas: Any, qtbot: Any, tmp_path: Path
) -> None:
    canvas.open("tutorial")
    before = canvas.space.document
    write_bundle(str(tmp_path / "m.ckpt"), {"c": np.float32([5, 6])})
    (tmp_path / "m.ckpt.data-00000-of-00001").write_bytes(b"damaged!")
    drop_at(canvas, QPoint(2, 2), files(tmp_path / "m.ckpt.index"))
    qtbot.waitUntil(lambda: not canvas.space.values.is_reading)
    assert canvas.said[-1][0] == "error"
    assert "m.ckpt.index: is damaged: 'c' has another checksum" in canvas.said[-1][1]
    assert canvas.space.document is before
