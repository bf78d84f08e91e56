"""What a newcomer's file is taken for: features, labels, classes by name; and that it trains so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gradstep.core.data.array_files import Reading
from gradstep.core.data.column_guesses import (
    guess_columns,
    guess_placeholders,
    offered_texts,
    place_text,
)
from gradstep.core.data.opened_data import open_data
from gradstep.core.data.source_survey import Survey, survey
from gradstep.core.data.transforms import read_transform
from gradstep.core.document.dataset import Dataset
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.graph.model import TensorRef


def kind(dtype: DType, *dims: int | None) -> TensorType:
    return TensorType(dtype, Shape.of(None, *dims))


FLOAT, INT = DType.FLOAT32, DType.INT32
IRIS = "id,sepal length,petal.width,species\n" + "".join(
    f"{i},{i / 10},{(i % 5) * 20},{('setosa', 'versi color')[i % 2]}\n" for i in range(8)
)


def looked_at(folder: Path, name: str, text: str) -> Survey:
    (folder / name).write_text(text)
    return survey(str(folder / name), Reading())


def guessed(found: Survey, kinds: dict[str, TensorType]) -> dict[str, str]:
    """Texts without the folder, each of which opens."""
    refs = {TensorRef(name): kind for name, kind in kinds.items()}
    texts = guess_columns(found, refs)
    for ref, text in texts.items():
        open_data(Dataset({str(ref): text}), {ref: refs[ref]}, Reading()).feeds_at(0)
    place = found.place.rpartition("/")[2]
    return {ref.op: text.replace(found.place, place) for ref, text in texts.items()}


def test_a_table_gives_features_and_classes(tmp_path: Path) -> None:
    found = looked_at(tmp_path, "iris.csv", IRIS)
    assert [(part.name, part.whole) for part in found.parts] == [
        ("id", True), ("sepal length", False), ("petal.width", True), ("species", False),
    ]  # fmt: skip
    assert found.rows == 8
    assert guess_placeholders(found) == {"x": kind(FLOAT, 3), "y": kind(INT)}
    assert guessed(found, {"x": kind(FLOAT, 3), "y": kind(INT)}) == {
        "x": "@iris.csv:id,sepal length,petal.width | standardise",
        "y": "@iris.csv:species | classes('setosa', 'versi color')",
    }
    # One-hot where the placeholder asks for it, whatever the order of the placeholders.
    wide = guessed(found, {"labels": kind(FLOAT, 2), "inputs": kind(FLOAT, 2)})
    assert wide == {
        "labels": "@iris.csv:species | classes('setosa', 'versi color') | one_hot(2)",
        "inputs": "@iris.csv:id,sepal length",
    }


@pytest.mark.parametrize(
    ("name", "kinds", "texts"),
    [
        (
            "digits",
            {"images": kind(FLOAT, 8, 8, 1), "labels": kind(FLOAT, 10)},
            {"images": "@digits:images | scale(1/16)", "labels": "@digits:labels | one_hot(10)"},
        ),
        ("digits", {"x": kind(FLOAT, 64), "y": kind(INT)},
         {"x": "@digits:images | scale(1/16)", "y": "@digits:labels"}),
        ("line", {"x": kind(FLOAT, 1), "y": kind(FLOAT, 1)}, {"x": "@line:x", "y": "@line:y"}),
        ("xor", {"points": kind(FLOAT, 2)}, {"points": "@xor:x"}),
    ],
)  # fmt: skip
def test_sets_go_where_names_and_shapes_say(
    name: str, kinds: dict[str, TensorType], texts: dict[str, str]
) -> None:
    assert guessed(survey(name, Reading()), kinds) == texts


def test_arrays_of_a_file_are_its_parts(tmp_path: Path) -> None:
    images, labels = np.zeros((6, 4, 4), np.uint8) + 255, np.arange(6)
    np.savez(tmp_path / "a.npz", images=images, labels=labels)
    found = survey(str(tmp_path / "a.npz"), Reading())
    assert guess_placeholders(found) == {"x": kind(FLOAT, 16), "y": kind(INT)}
    assert guessed(found, {"x": kind(FLOAT, 16), "y": kind(FLOAT, 6)}) == {
        "x": "@a.npz:images | scale(1/255)", "y": "@a.npz:labels | one_hot(6)",
    }  # fmt: skip
    np.save(tmp_path / "b.npy", images)
    whole = survey(str(tmp_path / "b.npy"), Reading())
    assert guessed(whole, {"x": kind(FLOAT, 16)}) == {"x": "@b.npy"}


def test_columns_without_a_plain_name_go_by_number_and_many_by_their_ends(tmp_path: Path) -> None:
    head = 'a,"b,c",d|e,' + ",".join(f"p{i}" for i in range(9)) + ",label\n"
    found = looked_at(tmp_path, "t.csv", head + ",".join("1" * 13) + "\n" + ",".join("0" * 13))
    parts = found.parts
    assert place_text(found, parts[:3]).rpartition(":")[2] == "a,2,3"
    assert place_text(found, parts[3:12]).rpartition(":")[2] == "p0..p8"
    assert place_text(found, parts) == f"@{found.place}"
    texts = guessed(found, {"x": kind(FLOAT, 12), "y": kind(FLOAT, 1)})
    assert texts == {"x": "@t.csv:a..p8", "y": "@t.csv:label"}


def test_each_part_is_offered(tmp_path: Path) -> None:
    found = looked_at(tmp_path, "iris.csv", IRIS)
    offered = offered_texts(found, TensorRef("y"), kind(INT))
    assert len(offered) == 5
    assert offered[-1].endswith(":species | classes('setosa', 'versi color')")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("classes()", "other arguments"),
        ("classes(a, a)", "other arguments"),
        ("classes(names=1)", "other arguments"),
    ],
)
def test_classes_have_names_of_their_own(text: str, said: str) -> None:
    with pytest.raises(GradstepError, match=said):
        read_transform(text)


def test_a_class_that_is_not_named_is_said(tmp_path: Path) -> None:
    found = looked_at(tmp_path, "iris.csv", IRIS)
    data = Dataset({"y:0": f"@{found.place}:species | classes(setosa, virginica)"})
    with pytest.raises(GradstepError, match="'versi color' is none of the classes"):
        open_data(data, {TensorRef("y"): kind(INT)}, Reading())


def test_a_folder_is_one_of_images_or_is_refused_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(GradstepError, match="it is a folder without images") as told:
        survey(str(tmp_path), Reading())
    assert told.value.message.startswith(f"cannot open {tmp_path}: ")
    assert told.value.hint.startswith("give a file, or a folder of images (.png")
    Image.fromarray(np.zeros((2, 3), np.uint8)).save(tmp_path / "0.png")
    (images,) = survey(str(tmp_path), Reading()).parts
    assert images.row == (2, 3, 1)
