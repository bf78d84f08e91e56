"""Trust: of one program, signed, remembered for the user, and never more than was agreed to."""

from __future__ import annotations

import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from gradstep.core.document import document_edits
from gradstep.core.document.document import CodeItem, CodeKind, Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.core.program.trust import code_trust, trust_store
from gradstep.core.program.trust.code_trust import allow, came_with_program, permission
from gradstep.core.program.trust.example_index import EXAMPLES
from gradstep.core.program.trust.permission_levels import Permission

FULL, CONFINED, REFUSED = Permission.FULL, Permission.CONFINED, Permission.REFUSED
ROOT = Path(__file__).resolve().parents[4]
needs_modes = pytest.mark.skipif(sys.platform == "win32", reason="files have modes elsewhere")


def document(
    source: str = "def f(x):\n    return x\n", kind: CodeKind = CodeKind.PYFUNC
) -> Document:
    graph = Graph.of(
        [
            Operation("x", "Placeholder"),
            Operation("y", "PyFunc", (TensorRef("x"),), attrs={"token": "f"}),
        ]
    )
    code = {"f": CodeItem("f", kind, source)}
    return Document(graph=graph, code=code, feeds={"x:0": Constant(1.0)})


def test_a_document_without_code_needs_no_trust() -> None:
    assert permission(Document()) is FULL
    allow(Document(), REFUSED)
    assert not code_trust.store().path.exists()


@pytest.mark.parametrize("answer", [FULL, CONFINED])
def test_an_answer_holds_from_the_moment_it_is_given(answer: Permission) -> None:
    assert permission(document()) is REFUSED
    allow(document(), answer, "mine.gradstep")
    assert permission(document()) is answer
    [made] = code_trust.decisions()
    assert (made.functions, made.place, made.permission) == (("f",), "mine.gradstep", answer)
    allow(document(), REFUSED)
    assert permission(document()) is REFUSED
    assert code_trust.decisions() == ()


def test_words_places_and_breakpoints_are_no_other_program() -> None:
    allow(document(), FULL)
    moved = document_edits.move(document(), {"y": (3.0, 4.0)})
    assert permission(moved.with_(title="renamed", note="**new**", truth="so")) is FULL
    assert permission(gradstep_file.from_bytes(gradstep_file.to_bytes(moved))) is FULL


def test_the_same_functions_in_another_program_are_asked_about_again() -> None:
    allow(document(), FULL)
    base = document()
    others = [
        document("def f(x):\n    return x + 1\n"),
        document(kind=CodeKind.GRADIENT),
        base.with_(feeds={"x:0": Constant("/etc/passwd")}),
        base.with_(initial={"x": Constant(2.0)}),
        base.with_(graph=Graph.of([*base.graph, Operation("z", "PyFunc", (TensorRef("y"),))])),
        base.with_(graph=Graph.of(replace(op, device="gpu") for op in base.graph)),
        base.with_(fetches=(TensorRef("y"),)),
        base.with_(targets=("y",)),
        base.with_(request=replace(base.request, of=(TensorRef("y"),))),
    ]
    assert [permission(other) for other in others] == [REFUSED] * len(others)
    assert permission(base) is FULL


def test_one_entry_takes_the_place_of_what_the_document_was() -> None:
    """However often the user saves code of his own, his list gets no longer."""
    versions = [document(f"def f(x):\n    return {i}\n") for i in range(4)]
    before = ""
    for version in versions:
        allow(version, FULL, "/home/me/mine.gradstep", before)
        before = code_trust.fingerprint(version)
    assert [permission(v).runs for v in versions] == [False, False, False, True]
    allow(
        versions[0], FULL, "/home/me/copy.gradstep", before
    )  # saved elsewhere: that is still there
    assert permission(versions[3]) is FULL
    assert len(code_trust.decisions()) == 2


def test_the_oldest_unused_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust_store, "MOST", 3)
    every = [document(f"def f(x):\n    return {i}\n") for i in range(4)]
    for day, each in enumerate(every[:3], start=1):
        monkeypatch.setattr(code_trust, "now", lambda day=day: f"2026-01-{day:02}T00:00:00+00:00")
        allow(each, FULL)
    monkeypatch.setattr(code_trust, "now", lambda: "2026-02-01T00:00:00+00:00")
    assert permission(every[0]) is FULL  # and that is use
    allow(every[3], FULL)
    assert [permission(each).runs for each in every] == [True, False, True, True]


@needs_modes
def test_it_is_kept_in_the_users_own_folder_for_nobody_else_to_read(fresh_home: Path) -> None:
    allow(document(), FULL)
    folder = code_trust.store().path.parent
    assert folder.is_relative_to(fresh_home)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert modes == {"trusted.json": 0o600, "trusted.key": 0o600, "trusted.lock": 0o600}


def test_entries_that_were_made_elsewhere_do_not_count() -> None:
    foreign = document("import os\ndef f(x):\n    return os.getcwd()\n")
    path = code_trust.store().path
    allow(foreign, FULL)
    from_afar = path.read_bytes()
    path.unlink()
    (path.parent / "trusted.key").unlink()
    allow(document(), FULL)
    own, theirs = (msgspec.json.decode(data) for data in (path.read_bytes(), from_afar))
    own["decisions"] += theirs["decisions"]
    path.write_bytes(msgspec.json.encode(own))
    assert (permission(foreign), permission(document())) == (REFUSED, FULL)
    told = code_trust.set_aside_damage()
    assert told is not None
    assert "1 of its entries were not made here" in told.message
    assert (permission(foreign), permission(document())) == (REFUSED, FULL)  # what is proven stays


@pytest.mark.parametrize("field", ["fingerprint", "permission", "place"])
def test_an_entry_that_was_altered_does_not_count(field: str) -> None:
    allow(document(), CONFINED)
    path = code_trust.store().path
    content = msgspec.json.decode(path.read_bytes())
    changed = {"fingerprint": code_trust.fingerprint(document("f = max")), "permission": "full"}
    content["decisions"][0]["decision"][field] = changed.get(field, "elsewhere")
    path.write_bytes(msgspec.json.encode(content))
    assert permission(document()) is permission(document("f = max")) is REFUSED


LEGACY = b'{"trusted":["eb285231d208a3141ad5e5f863195d6302fdf7ac5f45b7a0d75ae94ff187e06e"]}'


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff\xfe", b"[]", b"[" * 9000, b'{"version": 9}', LEGACY]
)
def test_a_damaged_store_is_said_and_set_aside_and_never_written_over(content: bytes) -> None:
    allow(document(), FULL)
    found = code_trust.store()
    found.path.write_bytes(content)
    assert permission(document()) is REFUSED
    with pytest.raises(GradstepError) as failure:
        allow(document(), FULL)
    [aside] = found.damaged()
    assert str(aside) in failure.value.message
    assert aside.read_bytes() == content
    assert code_trust.set_aside_damage() is None  # it is said once
    allow(document(), FULL)
    assert permission(document()) is FULL


def test_a_lost_key_is_said() -> None:
    allow(document(), FULL)
    key = code_trust.store().path.parent / "trusted.key"
    key.write_text("00")
    assert permission(document()) is REFUSED
    told = code_trust.set_aside_damage()
    assert told is not None
    assert str(key) in told.message
    allow(document(), FULL)
    assert permission(document()) is FULL


def test_a_folder_that_cannot_be_written_is_said(fresh_home: Path) -> None:
    folder = code_trust.store().path.parent
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("a file where the folder should be")
    with pytest.raises(GradstepError) as failure:
        allow(document(), FULL)
    assert failure.value.kind == "FileError"
    assert failure.value.hint
    assert permission(document()) is REFUSED
    told = code_trust.set_aside_damage()
    assert told is not None
    assert str(folder) in told.message


def test_names_that_utf8_has_no_bytes_for() -> None:
    allow(document(), FULL, "/home/me/\udcff.gradstep")
    assert permission(document()) is FULL
    unwritable = document().with_(targets=("\ud800",))
    assert permission(unwritable) is REFUSED


MANY = """
import sys
from gradstep.core.program.trust.permission_levels import Permission
from gradstep.core.program.trust.trust_store import Decision, TrustStore
from pathlib import Path
for i in range(20):
    made = Decision(f"{sys.argv[2]}-{i}", Permission.FULL)
    TrustStore(Path(sys.argv[1])).change(lambda old: [*old, made])
"""


@pytest.mark.slow
def test_two_windows_lose_no_decision(tmp_path: Path) -> None:
    writing = [
        subprocess.Popen([sys.executable, "-c", MANY, str(tmp_path), name], cwd=ROOT)
        for name in ("one", "two")
    ]
    assert [process.wait(60) for process in writing] == [0, 0]
    assert len(trust_store.TrustStore(tmp_path).read().decisions) == 40


def test_the_examples_are_trusted_as_they_are_and_their_functions_nowhere_else() -> None:
    with_code = [d for path in EXAMPLES.glob("*.gradstep") if (d := gradstep_file.load(path)).code]
    assert with_code
    for example in with_code:
        assert permission(example) is FULL
        name, item = next(iter(example.code.items()))
        changed = CodeItem(name, item.kind, item.source + "\nimport os\n")
        assert permission(example.with_(code={**example.code, name: changed})) is REFUSED
        elsewhere = document().with_(code=example.code)
        assert permission(elsewhere) is REFUSED
        assert came_with_program(elsewhere)  # as far as its costs go
