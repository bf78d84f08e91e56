"""What a document holds reaches no terminal as a command: escapes and reorderings are seen."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from gradstep.core.document.document import CodeItem, CodeKind, Document
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.io.native import gradstep_file
from tests.core.cli.conftest import Cli

ROOT = Path(__file__).resolve().parents[4]
RAW = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\r(?!\n)")
BAD = "a\x1b[2J\x1b]0;title\x07\x9b31m\u202eb"
PYFUNC = {"token": "f", "Tin": (DType.FLOAT64,), "Tout": (DType.FLOAT64,)}
PRINTS = f"def f(x):\n    print({BAD!r} + '\\rover\\r\\n\\tdone')\n    return x\n"


def hostile() -> Document:
    graph = Graph.of(
        [
            Operation("x", "Placeholder", attrs={"dtype": DType.FLOAT64}),
            Operation(BAD, "PyFunc", (TensorRef("x"),), attrs=PYFUNC),
            Operation("y", "NoSuch\x1b[31mType", (TensorRef(BAD),)),
            Operation("z", "Add", (TensorRef("x"), TensorRef("x"), TensorRef("x"))),
        ]
    )
    code = {"f": CodeItem("f", CodeKind.PYFUNC, PRINTS)}
    return Document(
        graph=graph, code=code, feeds={"x:0": Constant(1.0)}, title=BAD, note=BAD, claim=BAD
    )


def test_nothing_raw_reaches_the_terminal(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "hostile\x1b[31m.gradstep"
    gradstep_file.save(path, hostile())
    commands = [
        ("check", path),
        ("run", path, "--fetch", BAD, "--trust"),
        ("why", path, "--of", BAD),
        ("debug", path, "--trust", "--script", f"step; step; where; print {BAD}"),
        ("convert", path, "-"),
        ("nothing\x1b[0m",),
    ]
    said = [cli(*command) for command in commands]
    for command, result in zip(commands, said, strict=True):
        assert not RAW.search(result.out + result.err), command
    assert any("\\u001b[2J" in result.out for result in said)  # and it was there to be shown
    assert (
        "\\u000dover\r\n\tdone" in said[1].out + said[1].err
    )  # what the user's code prints keeps its lines


def test_json_says_the_same_names(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "hostile.gradstep"
    gradstep_file.save(path, hostile())
    result = cli("run", path, "--fetch", BAD, "--json")
    assert not RAW.search(result.out)
    assert json.loads(result.out)["error"]["node"] == BAD


def test_without_a_terminal_nothing_breaks() -> None:
    """A process whose standard output is closed, as one that a desktop starts."""
    code = (
        "import sys; sys.stdout = sys.stderr = None\n"
        "from gradstep.core.cli.output.terminal_text import visible_output\n"
        "with visible_output(): assert sys.stdout is None"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    assert done.returncode == 0
