"""Which tests a change asks for."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.support.fewer_tests import some_of_each
from tests.support.selection import affected_by, changed_files

FILES = {
    "core/low.py": "",
    "core/middle.py": "from gradstep.core import low\n",
    "core/high.py": "def f():\n    from gradstep.core.middle import x\n",
    "gui/window.py": "from gradstep.core.high import y\n",
    "tests/core/test_low.py": "",
    "tests/core/test_middle.py": "",
    "tests/core/test_high.py": "",
    "tests/core/test_subject.py": "from gradstep.core.low import z\n",
    "tests/core/conftest.py": "",
    "tests/gui/test_window.py": "from tests.support.hands import Hands\n",
    "tests/support/hands.py": "from tests.support.fingers import five\n",
    "tests/support/fingers.py": "",
    "tests/test_page.py": "PAGE = 'docs/page.md'\n",
    "docs/page.md": "",
    "core/ops/math/found.py": "",
    "core/ops/math/named.py": "",
    "core/ops/loader.py": "from gradstep.core.ops.math.named import one\n",
    "core/uses.py": "from gradstep.core.ops.loader import all\n",
    "gui/uses.py": "from gradstep.core.uses import all\n",
    "tests/core/ops/test_table.py": "",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "gpu").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        ("core/low.py", "core/test_low core/test_middle core/test_subject"),
        ("core/middle.py", "core/test_middle core/test_high"),
        ("gui/window.py", "gui/test_window"),
        ("tests/support/fingers.py", "gui/test_window"),
        ("tests/core/test_high.py", "core/test_high"),
        (
            "tests/core/conftest.py",
            "core/test_low core/test_middle core/test_high core/test_subject core/ops/test_table",
        ),
        ("docs/page.md", "test_page"),
        ("core/gone.py", ""),
        ("core/ops/math/found.py", "core/ops/test_table"),
        ("core/ops/math/named.py", "core/ops/test_table"),
    ],
)
def test_what_a_change_asks_for(tree: Path, changed: str, names: str) -> None:
    assert affected_by([changed], tree) == {f"tests/{name}.py" for name in names.split()}


def test_what_has_changed(tree: Path) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.name=n", "-c", "user.email=e@x", "-c", "init.defaultBranch=main")
        subprocess.run(["git", *who, *words], cwd=tree, check=True, capture_output=True)

    git("init")
    git("add", ".")
    git("commit", "-m", "first")
    assert changed_files("HEAD", tree) == set()
    (tree / "core/low.py").write_text("x = 1\n")
    (tree / "core/new.py").write_text("")
    assert changed_files("HEAD", tree) == {"core/low.py", "core/new.py"}
    git("add", ".")
    git("commit", "-m", "second")
    assert changed_files("HEAD~1", tree) == {"core/low.py", "core/new.py"}
    with pytest.raises(LookupError, match="no-such"):
        changed_files("no-such", tree)


def test_some_of_each_takes_the_ends_of_long_lists() -> None:
    cases = [("a", n) for n in range(9)] + [("b", 0)]
    kept = some_of_each(cases, lambda case: case[0], 2)
    assert kept == [("a", 0), ("a", 8), ("b", 0)]
    assert Counter(name for name, _ in some_of_each(cases, lambda case: case[0], 4))["a"] == 4
