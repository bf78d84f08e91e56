"""A number that a placeholder does not have is refused at every door, in the same words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradstep
from gradstep.core.data.array_files import Reading
from gradstep.core.data.value_text import typed_value
from gradstep.core.document.dataset import Dataset
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.graph.model import Constant, Graph, TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.build.builder import GraphBuilder
from tests.core.cli.conftest import Cli

REFUSED: list[tuple[str, str, Any, str]] = [
    ("int32", "2.7", 2.7, "2.7{} is not a whole number, and int32 has no others"),
    ("int32", "nan", np.nan, "nan{} is not a whole number, and int32 has no others"),
    ("int32", "1e20", 1e20, "1e+20{} is out of range for int32"),
    ("int32", "5000000000", 5_000_000_000, "5000000000{} is out of range for int32"),
    ("uint8", "300", 300, "300{} is out of range for uint8"),
    ("uint8", "-1", -1, "-1{} is out of range for uint8"),
    ("bool", "2", 2, "2{} is neither 0 nor 1, which stand for bool's false and true"),
    ("float32", "1e300", 1e300, "1e+300{} is out of range for float32"),
    ("float32", "'word'", "word", "'word'{} is no number that float32 has"),
]
TAKEN: list[tuple[str, str, Any, Any]] = [
    ("int32", "2.0", 2.0, 2),
    ("bool", "1", 1, True),
    ("uint8", "255", 255, 255),
    ("float32", "0.1", 0.1, np.float32(0.1)),
    ("float32", "16777217.0", 16777217.0, 16777216),  # the nearest that there is
]


def graph_of(dtype: str) -> Graph:
    builder = GraphBuilder()
    builder.one("Identity", builder.placeholder("x", dtype), name="y")
    return builder.build()


def written(folder: Path, dtype: str, **more: Any) -> Path:
    file = folder / "made.gradstep"
    gradstep_file.save(file, Document(graph_of(dtype), fetches=(TensorRef("y"),), **more))
    return file


@pytest.mark.parametrize(("dtype", "text", "value", "words"), REFUSED)
def test_it_is_refused(
    cli: Cli, tmp_path: Path, dtype: str, text: str, value: Any, words: str
) -> None:
    file = written(tmp_path, dtype)
    for given, where in ((text, ""), (f"[1, {text}]", " at index [1]")):
        found = cli("run", file, "--feed", f"x={given}", "--allow-nan", "--json")
        assert found.status == 1
        assert found.json["error"]["message"] == words.format(where)
        assert (found.json["error"]["node"], bool(found.json["error"]["hint"])) == ("x", True)
    for given in (value, np.array(value)):
        with pytest.raises(GradstepError) as caught:
            gradstep.open(file).run("y", {"x": given})
        assert caught.value.message == words.format("")
    with pytest.raises(GradstepError) as caught:  # in the window's editor, and the console
        typed_value(text, TensorType(DType(dtype), Shape(None)), "x", Reading())
    assert caught.value.message == words.format("")


@pytest.mark.parametrize(("dtype", "text", "value", "words"), REFUSED[:-1])
def test_it_is_refused_as_a_row_and_as_what_a_file_feeds(
    cli: Cli, tmp_path: Path, dtype: str, text: str, value: Any, words: str
) -> None:
    rows = written(tmp_path, dtype, data=Dataset({"x:0": f"[1, {text}]"}, batch=2))
    assert words.format(" at index [1]") in cli("run", rows).err
    file = written(tmp_path, dtype, feeds={"x:0": Constant(np.array(value))})
    assert words.format("") in cli("run", file).err
    assert words.format("") in cli("check", file).out


@pytest.mark.parametrize(("dtype", "text", "value", "taken"), TAKEN)
def test_what_the_placeholder_has_is_taken(
    cli: Cli, tmp_path: Path, dtype: str, text: str, value: Any, taken: Any
) -> None:
    file = written(tmp_path, dtype)
    found = cli("run", file, "--feed", f"x={text}", "--json")
    assert found.json["runs"][0]["fetches"]["y"]["data"] == taken
    assert gradstep.open(file).run("y", {"x": np.array(value)}) == taken
