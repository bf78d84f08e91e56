"""Trust: by content, remembered for the user, and never more than was agreed to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.errors import GradstepError
from core.host.trust import is_trusted, store_path, trust
from core.io import store
from core.io.document import CodeItem, CodeKind, Document
from core.io.example_index import EXAMPLES


def document(
    source: str = "def f(x):\n    return x\n", kind: CodeKind = CodeKind.PYFUNC
) -> Document:
    return Document(code={"f": CodeItem("f", kind, source)})


def test_a_document_without_code_needs_no_trust() -> None:
    assert is_trusted(Document())
    assert not store_path().exists()


def test_code_is_trusted_from_the_moment_the_user_says_so() -> None:
    assert not is_trusted(document())
    trust(document())
    assert is_trusted(document())
    assert is_trusted(document().with_(title="renamed"))  # the code is what counts


def test_any_change_of_the_code_ends_it() -> None:
    trust(document())
    assert not is_trusted(document("def f(x):\n    return x + 1\n"))
    assert not is_trusted(document(kind=CodeKind.GRADIENT))


def test_trusting_one_document_keeps_the_others() -> None:
    sources = [f"def f(x):\n    return {i}\n" for i in range(3)]
    for source in sources:
        trust(document(source))
    assert all(is_trusted(document(source)) for source in sources)
    assert len(json.loads(store_path().read_bytes())["trusted"]) == 3


def test_it_is_kept_in_the_users_own_folder(fresh_home: Path) -> None:
    trust(document())
    assert store_path().is_relative_to(fresh_home)
    assert [path.name for path in store_path().parent.iterdir()] == ["trusted.json"]


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b'{"trusted": 1}', b"[]"])
def test_a_damaged_store_trusts_nothing_and_can_be_written_again(content: bytes) -> None:
    store_path().parent.mkdir(parents=True)
    store_path().write_bytes(content)
    assert not is_trusted(document())
    trust(document())
    assert is_trusted(document())


def test_a_folder_that_cannot_be_written_is_said(fresh_home: Path) -> None:
    store_path().parent.parent.mkdir(parents=True, exist_ok=True)
    store_path().parent.write_text("a file where the folder should be")
    with pytest.raises(GradstepError) as failure:
        trust(document())
    assert failure.value.kind == "FileError"
    assert failure.value.hint
    assert not is_trusted(document())


def test_the_examples_that_come_with_the_program_are_trusted() -> None:
    with_code = [d for path in EXAMPLES.glob("*.gradstep") if (d := store.load(path)).code]
    assert with_code
    for example in with_code:
        assert is_trusted(example)
        name, item = next(iter(example.code.items()))
        changed = CodeItem(name, item.kind, item.source + "\nimport os\n")
        assert not is_trusted(example.with_(code={**example.code, name: changed}))
