"""Whole command lines, on copies of the examples: what a command takes, put together by chance."""

from __future__ import annotations

import argparse
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from random import Random
from unittest.mock import patch

from gradstep.core.cli.command_line import main, verb_parser
from gradstep.core.cli.command_table import VERBS
from gradstep.core.document.document import Document
from gradstep.core.io.native import gradstep_file
from gradstep.main import Gradstep
from tests.fuzz import odd
from tests.fuzz.examples import EXAMPLES
from tests.fuzz.expressions import expression

HERE = "HERE"  # in place of the folder that a line works in
# These wait for others, make windows, install themselves, or keep machines busy on purpose.
ELSEWHERE = frozenset({"engine", "follow", "desktop", "tour", "shot", "sweep"})
_SECONDS = "3"  # that a command may take, as it is told
_OUT = (".gradstep", ".pb", ".pbtxt", ".onnx", ".py", ".torch.py", ".numpy.py", ".dot", ".npz",
        ".gradrec", ".csv", "", "/x")  # fmt: skip
_DEVICES = ("cpu", "cpu:native", "emulate:jax", "emulate:torch", "emulate:cupy", "recorded", "gpu",
            "torch:cpu", "emulate:", "nothing")  # fmt: skip
_ROWS = ("@circles:x", "@xor:x", "@line:x | standardise", "normal(0, 1)", "[[1, 2], [3, 4]]", "[1]")
_LITERALS = ("1", "-2.5", "[1, 2]", "[[1, 2], [3, 4]]", "normal(0, 0.1, seed=1)", "zeros()", "nan")
_OPTIMIZERS = ("l2(1e-4)", "decoupled(0.01)", "global_norm(1)", "norm(1)", "value(0.1)", "",
               "exponential_decay(10, 0.9)", "warmup(3) * cosine_decay(9)")  # fmt: skip
_PASSES = ("dead code", "simpler forms", "constant folding", "results straight into variables")
_SIZES = ("1MiB", "64MiB", "4GiB", "0", "1")

Make = Callable[[Random, str], str]


@cache
def _files() -> list[str]:
    return sorted(path.name for path in EXAMPLES.glob("*.gradstep"))


@cache
def _document(file: str) -> Document:
    return gradstep_file.load(EXAMPLES / file)


def line(dice: Random) -> str:
    """A command with its arguments, one in each line of the text."""
    verb = dice.choice([name for name in VERBS if name not in ELSEWHERE])
    file = dice.choice(_files())
    actions = [a for a in verb_parser(verb)._actions if not isinstance(a, argparse._HelpAction)]
    words = [verb]
    for action in actions:
        if not action.option_strings:
            words += _positional(dice, action, file)
    options = [a for a in actions if a.option_strings and "--sandbox" not in a.option_strings]
    for action in dice.sample(options, min(len(options), dice.choice((0, 1, 1, 2, 3, 4)))):
        words += _option(dice, action, file)
    if any("--timeout" in action.option_strings for action in options):
        words += ["--timeout", _SECONDS]
    return "\n".join(" ".join(word.splitlines()) for word in words)


def _positional(dice: Random, action: argparse.Action, file: str) -> list[str]:
    if action.choices:
        return [dice.choice([*map(str, action.choices)])]
    match action.dest:
        case "file":
            return [f"{HERE}/{file if dice.random() < 0.97 else 'none.pb'}"]
        case "other":
            other = dice.choice((file, dice.choice(_files())))
            return [f"{HERE}/{other}"]
        case "out":
            return [_out(dice, file)]
        case "expression":
            return [_expression(dice, file)]
    return [] if action.nargs in ("?", "*") else [HERE]


def _option(dice: Random, action: argparse.Action, file: str) -> list[str]:
    option = dice.choice(action.option_strings)
    if action.nargs == 0:
        return [option]
    if action.choices:
        return [option, dice.choice([*map(str, action.choices)])]
    make = _VALUES.get(option, _number)
    count = dice.choice((1, 1, 2)) if action.nargs == "+" else 1
    values = [
        odd.text(dice, []) if dice.random() < 0.05 else make(dice, file) for _ in range(count)
    ]
    return [option, *values]


def _value(dice: Random, make: Make, file: str) -> str:
    return odd.text(dice, []) if dice.random() < 0.05 else make(dice, file)


# -- values, by the option they are of ------------------------------------------------------------


def _node(dice: Random, file: str) -> str:
    return odd.text(dice, [*_document(file).graph.operations])


def _tensor(dice: Random, file: str) -> str:
    """Mostly what the document itself asks about."""
    document = _document(file)
    asked = [*map(str, (*document.request.of, *document.request.wrt, *document.fetches))]
    return dice.choice(asked) if asked and dice.random() < 0.6 else _node(dice, file)


def _scope(dice: Random, file: str) -> str:
    return _node(dice, file).partition("/")[0]


def _feed(dice: Random, file: str) -> str:
    document = _document(file)
    fed = [op.name for op in document.graph if op.type in ("Placeholder", "VariableV2", "Const")]
    return f"{odd.text(dice, fed)}={dice.choice(_LITERALS)}"


def _rows(dice: Random, file: str) -> str:
    return f"{odd.text(dice, [op.name for op in _document(file).graph])}={dice.choice(_ROWS)}"


def _override(dice: Random, file: str) -> str:
    graph = _document(file).graph
    target = odd.text(dice, [*graph.operations, *{op.type for op in graph}])
    return f"{target}={odd.text(dice, ['Identity', 'Zero', 'Sub', *_document(file).code])}"


def _place(dice: Random, file: str) -> str:
    return f"{_node(dice, file)}={dice.choice(('', *_DEVICES))}"


def _expression(dice: Random, file: str) -> str:
    return expression(dice, [*_document(file).graph.operations], 3)


def _out(dice: Random, file: str) -> str:
    if dice.random() < 0.1:
        return dice.choice((f"{HERE}/{file}", HERE, "", "-"))
    return f"{HERE}/out{dice.choice(_OUT)}"


def _script(dice: Random, file: str) -> str:
    words = (
        "step",
        "continue",
        "back",
        "run",
        "where",
        "print",
        "watch",
        "break",
        "why",
        "train 2",
    )
    lines = (dice.choice(words) for _ in range(dice.randrange(1, 5)))
    return "; ".join(f"{each} {_tensor(dice, file)}" if len(each) > 4 else each for each in lines)


def _number(dice: Random, file: str) -> str:
    return str(odd.number(dice)) if dice.random() < 0.2 else str(dice.randrange(1, 4))


def _one_of(*choices: str) -> Make:
    return lambda dice, file: dice.choice(choices)


_VALUES: Mapping[str, Make] = {
    **dict.fromkeys(("--fetch", "--of", "--wrt", "--grad-ys", "--stop", "--target"), _tensor),
    **dict.fromkeys(("--value", "--gradient", "--who", "--node", "--init"), _tensor),
    **dict.fromkeys(("--that", "--until"), _expression),
    **dict.fromkeys(("--out", "--take", "--reduce", "--record", "--restore", "--code"), _out),
    **dict.fromkeys(("--checkpoint", "--logdir"), _one_of(f"{HERE}/logs", HERE, f"{HERE}/m.ckpt")),
    **dict.fromkeys(("--device", "--against"), _one_of(*_DEVICES)),
    **dict.fromkeys(("--schedule", "--clip", "--weight-decay"), _one_of(*_OPTIMIZERS)),
    **dict.fromkeys(("--validate", "--test", "--tolerance"), _one_of("0.2", "0.5", "1", "0", "x")),
    "--scope": _scope,
    "--feed": _feed,
    "--data": _rows,
    "--override": _override,
    "--place": _place,
    "--script": _script,
    "--kernels": _one_of("auto", "numba", "scipy", "onednn", "none"),
    "--without": _one_of(*_PASSES, "L1", "unused"),
    "--memory": _one_of(*_SIZES),
    "--text": _one_of("it holds", "", "<b>"),
    "--tag": _one_of("loss", "*"),
    "--engine": _one_of("here", "ssh://", "nowhere"),
}


# -- the line itself ------------------------------------------------------------------------------


def try_line(text: str) -> None:
    """Do what it says, in a folder of its own. Raises whatever is no GradstepError."""
    with tempfile.TemporaryDirectory() as folder, _alone_in(Path(folder)):
        words = [word.replace(HERE, folder) for word in text.split("\n")]
        for name in {Path(word).name for word in words} & {*_files()}:
            shutil.copy(EXAMPLES / name, folder)
        said = io.StringIO()  # which cannot be muted, as is done where an OSError comes out whole
        with (
            redirect_stdout(said),
            redirect_stderr(said),
            patch.object(sys, "stdin", io.StringIO()),
        ):
            try:
                main(words, Gradstep())
            except SystemExit as end:
                if end.code not in (0, 2):  # of argparse
                    raise AssertionError(f"it ended with {end.code}") from end
    if "InternalError" in said.getvalue():
        raise AssertionError(said.getvalue())


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Nothing of this user's is read or written, and what nobody foresaw is raised."""
    places = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"), folder)
    own = {name: str(place / "own") for name, place in places.items()}
    before = Path.cwd()
    with patch.dict(os.environ, {**own, "GRADSTEP_TRACEBACK": "1"}):
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)
