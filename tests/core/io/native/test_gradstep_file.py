"""A document comes back from its file as it was, and equal documents give equal bytes."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.document.dataset import Dataset
from gradstep.core.document.document import CodeItem, CodeKind, Document, View
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.io.disk.file_stamp import FileChangedError, look
from gradstep.core.io.native import attribute_records, gradstep_file
from tests.core.io.documents import documents, parts


@pytest.mark.slow
@given(documents)
def test_round_trip(document: Document) -> None:
    data = gradstep_file.to_bytes(document)
    again = gradstep_file.from_bytes(data)
    assert parts(again) == parts(document)
    assert gradstep_file.to_bytes(again) == data
    assert (
        gradstep_file.to_bytes(
            gradstep_file.from_bytes(gradstep_file.to_bytes(document, readable=False))
        )
        == data
    )


def test_nan_payload_and_infinities_survive() -> None:
    odd = np.array([0x7FC00001, 0xFFC00000, 0x7F800000], np.uint32).view(np.float32)
    document = Document(initial={"v": Constant(odd), "w": Constant(np.array([np.nan, -0.0]))})
    again = gradstep_file.from_bytes(gradstep_file.to_bytes(document))
    assert again.initial["v"] == document.initial["v"]
    assert again.initial["w"] == document.initial["w"]


def test_large_tensors_are_files_and_kept_once() -> None:
    big = Constant(np.arange(1000.0))
    document = Document(initial={"v": big, "w": big})
    names = _members(gradstep_file.to_bytes(document))
    assert names[0] == "mimetype"
    assert sum(name.startswith("tensors/") for name in names) == 1
    assert gradstep_file.from_bytes(gradstep_file.to_bytes(document)).initial["w"] == big


def test_two_tensors_whose_hashes_begin_alike_stay_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anybody can make such a pair in minutes; one would stand for the other, unnoticed."""
    monkeypatch.setattr(attribute_records, "DIGITS", 0)
    feeds = {f"x{i}": Constant(np.arange(100.0) + i) for i in range(3)}
    again = gradstep_file.from_bytes(gradstep_file.to_bytes(Document(feeds=feeds)))
    assert again.feeds == feeds


def test_code_is_readable_in_the_file() -> None:
    items = [CodeItem(n, CodeKind.GRADIENT, f"def f(): {n!r}\n") for n in ("A", "a", "../x", "é")]
    data = gradstep_file.to_bytes(Document(code={item.name: item for item in items}))
    names = [n for n in _members(data) if n.startswith("code/")]
    assert len({n.lower() for n in names}) == 4
    assert all(n.count("/") == 1 and ".." not in n for n in names)
    assert {c.source for c in gradstep_file.from_bytes(data).code.values()} == {
        i.source for i in items
    }


def test_positions_that_are_no_numbers_are_left_out() -> None:
    view = View({"a": (float("nan"), 0.0), "b": (1.0, 2.0)})
    assert gradstep_file.from_bytes(gradstep_file.to_bytes(Document(view=view))).view.positions == {
        "b": (1.0, 2.0)
    }


def test_many_operations_stay_in_order() -> None:
    graph = Graph.of(Operation(f"n{i}", "NoOp") for i in reversed(range(300)))
    again = gradstep_file.from_bytes(gradstep_file.to_bytes(Document(graph=graph)))
    assert list(again.graph.operations) == list(graph.operations)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"version": 99, "operations": []}', "newer Gradstep"),
        ('{"operations": []}', "version"),
        ('{"version": 0, "operations": []}', "no file format 0"),
        ('{"version": 1, "operations": [{"name": "a"}]}', r"\$\.operations\[0\]"),
        ('{"version": 1, "operations": [], "surprise": 1}', "surprise"),
        ('{"version": 1', "not valid"),
        ('{"version": 1, "operations": ' + "[" * 100_000 + "]" * 100_000 + "}", "not valid"),
        ('{"version": 1, "operations": [{"name":"a","type":"A"},{"name":"a","type":"A"}]}', "two"),
        ('{"version": 1, "operations": [{"name":"a","type":"A","inputs":["b:x"]}]}', "b:x"),
        (
            '{"version": 1, "operations": [], "feeds": {"f": {"dtype": "float32", "shape": [2]}}}',
            "f",
        ),
        (
            '{"version": 1, "operations": [], "feeds": {"f": {"dtype": "float32", '
            '"shape": [2], "data": [1, "many"]}}}',
            "many",
        ),
        (
            '{"version": 1, "operations": [], "feeds": {"f": {"dtype": "uint8", '
            '"shape": [1], "data": [256]}}}',
            "256|bounds",
        ),
        (
            '{"version": 1, "operations": [], "feeds": {"f": {"dtype": "float32", '
            '"shape": [99999999999], "data": []}}}',
            "shape",
        ),
        (
            '{"version": 1, "operations": [], "feeds": {"f": {"dtype": "float32", '
            '"shape": [9], "file": "tensors/no.npy"}}}',
            "missing",
        ),
    ],
)
def test_bad_documents_are_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(GradstepError, match=said) as caught:
        gradstep_file.from_bytes(_archive({"document.json": text.encode()}), "bad.gradstep")
    assert caught.value.kind == "FileError"
    assert caught.value.message.startswith("bad.gradstep: ")
    assert "\n" not in caught.value.message


def test_a_tensor_file_must_be_what_the_document_says() -> None:
    data = gradstep_file.to_bytes(Document(initial={"v": Constant(np.arange(100.0))}))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {n: archive.read(n) for n in archive.namelist() if n != "mimetype"}
    members["document.json"] = members["document.json"].replace(b"100", b"10,10")
    with pytest.raises(GradstepError, match=r"float64\[100\], but the document says"):
        gradstep_file.from_bytes(_archive(members))


def _archive(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def _members(data: bytes) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.namelist()


@pytest.mark.parametrize(
    "where", ["inputs", "control_inputs", "fetches", "of", "stopped_edges", "loop"]
)
@given(name=st.sampled_from(("", ":", "a:", ":0", "<", "<0", "a<", "\ud800")))
def test_what_opens_can_be_saved_and_opens_again(where: str, name: str) -> None:
    """Or it does not open; or it is said that it cannot be saved, and the old file stays."""
    record: dict[str, Any] = {"version": 1, "operations": [{"name": "a", "type": "A"}]}
    if where in ("inputs", "control_inputs"):
        record["operations"][0][where] = [name]
    elif where in ("of", "stopped_edges"):
        record["request"] = {where: [name]}
    elif where == "fetches":
        record[where] = [name]
    else:
        loop = {"kind": "loop", "operations": [], "variables": [], "captures": [], "cond": name}
        record["operations"][0]["attrs"] = {"loop": {**loop, "results": [name]}}
    with zipfile.ZipFile(buffer := io.BytesIO(), "w") as archive:
        archive.writestr("document.json", json.dumps(record))
    try:
        document = gradstep_file.from_bytes(buffer.getvalue())
    except GradstepError:
        return
    again = gradstep_file.from_bytes(gradstep_file.proven(document))
    assert parts(again) == parts(document)


def test_a_document_that_would_not_open_again_is_not_saved(tmp_path: Path) -> None:
    path = tmp_path / "a.gradstep"
    gradstep_file.save(path, Document(note="old"))
    for bad in (
        Document(fetches=(TensorRef(""),)),
        Document(graph=Graph({"a": Operation("b", "NoOp"), "b": Operation("b", "NoOp")})),
        Document(note="\ud800"),
        Document(code={"f": CodeItem("f", CodeKind.PYFUNC, "\ud800")}),
    ):
        with pytest.raises(GradstepError) as caught:
            gradstep_file.save(path, bad)
        assert caught.value.kind == "FileError"
        assert gradstep_file.load(path).note == "old"


def test_a_file_that_somebody_changed_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.gradstep"
    disk = gradstep_file.save(path, Document(note="mine"))
    assert disk == look(path)
    disk = gradstep_file.save(path, Document(note="mine again"), disk)
    gradstep_file.save(path, Document(note="theirs"))
    with pytest.raises(FileChangedError, match="changed by another program") as caught:
        gradstep_file.save(path, Document(note="mine"), disk)
    assert gradstep_file.load(path).note == "theirs"
    assert caught.value.found == look(path)
    path.unlink()
    with pytest.raises(FileChangedError, match="deleted"):
        gradstep_file.save(path, Document(note="mine"), disk)
    assert not path.exists()
    gradstep_file.save(path, Document(note="mine"), look(path))


def test_only_a_file_with_packed_rows_is_too_new_for_programs_without_them() -> None:
    data = Dataset({"x:0": "@packed:rows.npy"})
    made = Document().with_(data=data, packed={"rows.npy": Constant(np.arange(100.0))})
    content = gradstep_file.to_bytes(made)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        record = json.loads(archive.read("document.json"))
    assert record["version"] == 7
    assert [*record["packed"]] == ["rows.npy"]
    assert gradstep_file.from_bytes(content).packed == made.packed
    bare = gradstep_file.to_bytes(made.with_(packed={}))
    with zipfile.ZipFile(io.BytesIO(bare)) as archive:
        assert json.loads(archive.read("document.json"))["version"] == 3


@pytest.mark.parametrize(("test", "version"), [(0.0, 3), (0.25, 4)])
def test_data_says_no_more_than_it_has_to_and_comes_back(test: float, version: int) -> None:
    """Rows to test on are written where there are such, since older versions refuse what they do
    not know."""
    data = Dataset({"x:0": "@xor:x"}, batch=2, shuffle=None, validate=0.25, test=test)
    content = gradstep_file.to_bytes(Document().with_(data=data))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        record = json.loads(archive.read("document.json"))
    assert record["version"] == version
    assert ("test" in record["data"]) == bool(test)
    assert gradstep_file.from_bytes(content).data == data
