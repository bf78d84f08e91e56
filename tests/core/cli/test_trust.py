"""`gradstep trust`: the decisions as a list, one or all of them revoked, damage said."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradstep.core.document.document import CodeItem, CodeKind, Document
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read
from gradstep.core.program.trust import code_trust
from gradstep.core.program.trust.code_fingerprint import fingerprint
from gradstep.core.program.trust.example_index import EXAMPLES
from gradstep.core.program.trust.permission_levels import Permission
from tests.core.cli.conftest import Cli


def document(number: int) -> Document:
    item = CodeItem("f", CodeKind.PYFUNC, f"def f(x):\n    return {number}\n")
    return Document(code={"f": item}, title=f"number {number}")


@pytest.fixture
def three(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{number}.gradstep" for number in range(3)]
    for number, path in enumerate(paths):
        gradstep_file.save(path, document(number))
        code_trust.allow(document(number), list(Permission)[1 + number % 2], str(path))
    return paths


def test_the_list_says_what_where_and_when(cli: Cli, three: list[Path]) -> None:
    found = cli("trust", "list", "--json").json
    assert [d["place"] for d in found["decisions"]] == [str(path) for path in reversed(three)]
    assert [d["permission"] for d in found["decisions"]] == ["confined", "full", "confined"]
    assert all(d["functions"] == ["f"] and d["decided"] for d in found["decisions"])
    text = cli("trust", "list").out
    assert all(str(path) in text for path in three)
    assert fingerprint(document(0))[:12] in text


def test_one_is_revoked_by_its_file_or_its_number_and_all_at_once(
    cli: Cli, three: list[Path]
) -> None:
    assert cli("trust", "revoke", three[0]).status == 0
    assert cli("trust", "revoke", fingerprint(document(1))[:12]).status == 0
    runs = [code_trust.permission(document(number)).runs for number in range(3)]
    assert runs == [False, False, True]
    assert str(three[2]) in cli("trust", "revoke", "--all").out
    assert code_trust.decisions() == ()
    assert cli("trust", "list").status == 0


@pytest.mark.parametrize(
    "arguments",
    [("revoke",), ("revoke", "--all", "abcd"), ("revoke", "nowhere.gradstep"), ("revoke", "a"),
     ("list", "abcd"), ("forget",), ()],
)  # fmt: skip
def test_bad_usage_revokes_nothing(cli: Cli, three: list[Path], arguments: tuple[str, ...]) -> None:
    result = cli("trust", *arguments)
    assert result.status == 2
    assert result.err
    assert len(code_trust.decisions()) == 3


def test_damage_is_said_beside_every_answer_that_depends_on_it(cli: Cli, three: list[Path]) -> None:
    code_trust.store().path.write_bytes(b"{")
    said = cli("check", three[0])
    [aside] = code_trust.store().damaged()
    assert str(aside) in said.err
    listed = cli("trust", "list")
    assert f"set aside, as it was damaged: {aside}" in listed.out
    assert listed.err == ""


@pytest.mark.parametrize("decided", [True, False])
def test_what_a_command_writes_of_a_trusted_document_is_trusted(
    cli: Cli, tmp_path: Path, decided: bool
) -> None:
    """Its new values and feeds are the user's own; what `--trust` lets run once is not trusted."""
    document = read(EXAMPLES / "override_add.gradstep")
    path, own = tmp_path / "mine.gradstep", {}
    for name, item in document.code.items():
        own[name] = CodeItem(name, item.kind, item.source + "# mine\n")
    gradstep_file.save(path, document := document.with_(code=own))
    if decided:
        code_trust.allow(document, Permission.FULL, str(path))
    may = () if decided else ("--trust",)
    written = tmp_path / "trained.gradstep", tmp_path / "expected.gradstep"
    assert cli("train", path, "--steps", 2, "--out", written[0], *may).status == 0
    fed = ("--value", "loss", "--feed", "labels=[0.5,0.5]")
    result = cli("expect", path, *fed, "--out", written[1], *may)
    assert result.status == 0, result.err
    for out in written:
        assert fingerprint(read(out)) != fingerprint(document)
        assert code_trust.permission(read(out)).runs is decided
