"""A document's data follows its placeholders, its file, and its edits."""

from __future__ import annotations

import zipfile
from pathlib import Path

import msgspec
import numpy as np
import pytest

from gradstep.core.document.dataset import (
    Dataset,
    require_sound,
    short_text,
    with_near_paths,
    with_whole_paths,
)
from gradstep.core.document.document import Document
from gradstep.core.document.document_edits import remove_operations, rename_operation
from gradstep.core.document.unsaved_changes import has_work
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.native.diff_sentences import changes
from gradstep.core.io.native.document_diff import Difference, apply, differences
from gradstep.core.io.open_document import read
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.trust.code_fingerprint import fingerprint
from tests.core.program.trust import test_code_trust

DATA = Dataset(
    {"x:0": "@digits:images | scale(1/16)", "y:0": "@digits:labels"}, 16, 7, True, 0.2, 100, 3
)


def document(data: Dataset | None = DATA) -> Document:
    b = GraphBuilder()
    b.placeholder("x", shape=(None, 64))
    b.placeholder("y", shape=(None,))
    return Document(graph=b.build(), data=data)


def test_it_is_in_the_file_and_in_a_difference() -> None:
    made = document()
    assert gradstep_file.from_bytes(gradstep_file.to_bytes(made)).data == DATA
    for before, after in ((document(None), made), (made, document(None))):
        difference = differences(before, after)
        again = apply(before, Difference.from_bytes(difference.to_bytes()))
        assert again.data == after.data
        assert [change.what for change in changes(before, after)] == ["data"]


def test_packed_rows_change_one_by_one_and_are_named_in_words() -> None:
    """The rows that stay are not written again."""
    rows = {name: Constant(np.arange(200.0) + start) for start, name in enumerate("ab")}
    before = document().with_(packed={"a": rows["a"]})
    after = document().with_(packed=rows)
    difference = differences(before, after)
    assert [*difference.record.document.packed] == ["b"]
    assert len(difference.members) == 1
    assert apply(before, Difference.from_bytes(difference.to_bytes())).packed == rows
    (said,) = changes(before, after)
    assert (said.what, said.name, said.details) == ("packed rows", "b", ("float64[200]",))
    assert has_work(after, before)


@pytest.mark.parametrize(("data", "version"), [(None, 1), (DATA, 3)])
def test_only_a_file_with_data_is_too_new_for_older_programs(
    data: Dataset | None, version: int, tmp_path: Path
) -> None:
    gradstep_file.save(tmp_path / "a.gradstep", document(data))
    with zipfile.ZipFile(tmp_path / "a.gradstep") as file:
        found = msgspec.json.decode(file.read("document.json"))
    assert found["version"] == version
    assert ("data" in found) == (data is not None)


def test_a_column_follows_its_placeholder_and_goes_with_it() -> None:
    renamed = rename_operation(document(), "x", "images")
    assert renamed.columns == {"images:0": "@digits:images | scale(1/16)", "y:0": "@digits:labels"}
    left = remove_operations(renamed, ["images"])
    assert left.columns == {"y:0": "@digits:labels"}
    assert left.data is not None
    assert left.data.batch == 16
    assert remove_operations(left, ["y"]).data is None


def test_files_beside_the_document_move_with_it_and_others_stay(tmp_path: Path) -> None:
    nets = tmp_path / "work" / "nets"
    nets.mkdir(parents=True)
    near, around = (nets / "a b.csv").as_posix(), (tmp_path / "work" / "data" / "t.csv").as_posix()
    far = "/elsewhere/t.npy"
    columns = {"a:0": f"@{near}:p,q | scale(2)", "b:0": f"@{around}:r", "c:0": f"@{far}"}
    columns["d:0"] = "@digits:images"
    path = nets / "net.gradstep"
    made = document(Dataset(columns))
    gradstep_file.save(path, made)
    assert read(path).columns == columns
    other = tmp_path / "other" / "nets"
    other.mkdir(parents=True)
    path.rename(other / "net.gradstep")
    moved = read(other / "net.gradstep").columns
    assert moved["a:0"] == f"@{(other / 'a b.csv').as_posix()}:p,q | scale(2)"
    assert moved["b:0"] == f"@{(tmp_path / 'other' / 'data' / 't.csv').as_posix()}:r"
    assert (moved["c:0"], moved["d:0"]) == (f"@{far}", "@digits:images")
    # Saved as another file elsewhere, it means the same files.
    gradstep_file.save(tmp_path / "copy.gradstep", made)
    assert read(tmp_path / "copy.gradstep").columns == columns


def test_near_paths_are_those_of_the_folder_and_the_one_around_it() -> None:
    data = Dataset({"x:0": "@/a/b/x.csv", "y:0": "@/a/y.csv", "z:0": "@/z.csv"})
    near = with_near_paths(data, Path("/a/b"))
    assert near.columns == {"x:0": "@./x.csv", "y:0": "@../y.csv", "z:0": "@/z.csv"}
    assert with_whole_paths(near, Path("/a/b")) == data


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("@/a/b c/x.csv:km/h | scale(1/16)", "@x.csv:km/h | scale(1/16)"),
        ("@C:/a/x.npz:key", "@x.npz:key"),
        ("@/x.csv:a,b", "@x.csv:a,b"),
        ("@digits:images | scale(1/16)", "@digits:images | scale(1/16)"),
    ],
)
def test_folders_are_left_out_for_people(text: str, short: str) -> None:
    assert short_text(text) == short


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (Dataset({}, 0), "its batch is 0"),
        (Dataset({}, validate=1.0), "1 of its rows are held back"),
        (Dataset({}, shuffle=-1), "its seed is -1"),
        (Dataset({}, epochs=0), "its epochs is 0"),
        (Dataset({}, limit=-1), "its limit is -1"),
    ],
)
def test_numbers_that_say_nothing_are_refused(data: Dataset, said: str) -> None:
    with pytest.raises(GradstepError, match=said):
        require_sound(data)


def test_python_that_sees_other_rows_is_another_program_wherever_these_lie() -> None:
    made = test_code_trust.document()
    here, there = (
        made.with_(data=Dataset({"x:0": f"@/{folder}/rows.csv:a"})) for folder in ("a", "b")
    )
    other = made.with_(data=Dataset({"x:0": "@/a/rows.csv:b"}))
    assert fingerprint(here) == fingerprint(there)
    assert len({fingerprint(each) for each in (made, here, other)}) == 3
