"""Whole command lines, on copies of the examples: what a command takes, put together by chance."""

from __future__ import annotations

import argparse
import io
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random
from unittest.mock import patch

from gradstep.core.checks.doctor.lint_table import BY_CODE
from gradstep.core.cli.command_line import main, verb_parser
from gradstep.core.cli.command_table import VERBS
from gradstep.core.engine.passes.pass_pipeline import PASSES
from gradstep.core.io.format_table import suffixes_written
from gradstep.main import Gradstep
from tests.fuzz import odd
from tests.fuzz.console_scripts import console_script
from tests.fuzz.examples import EXAMPLES, document
from tests.fuzz.expressions import expression
from tests.fuzz.wires import examples

HERE = "HERE"  # in place of the folder that a line works in
# These wait for others, make windows, install themselves, or keep machines busy on purpose.
_ELSEWHERE = frozenset({"engine", "follow", "desktop", "tour", "shot"})
_SECONDS = "3"  # that a command may take, as it is told
_OUT = (*suffixes_written(is_drawn=False), ".npz", ".gradrec", ".csv", "", "/x")
_DEVICES = ("cpu", "cpu:native", "emulate:jax", "emulate:torch", "emulate:cupy", "recorded", "gpu",
            "torch:cpu", "emulate:", "nothing")  # fmt: skip
_ROWS = ("@circles:x", "@xor:x", "@line:x | standardise", "normal(0, 1)", "[[1, 2], [3, 4]]", "[1]")
_LITERALS = ("1", "-2.5", "[1, 2]", "[[1, 2], [3, 4]]", "normal(0, 0.1, seed=1)", "zeros()", "nan")
_RANGES = ("0.01:1:log3", "0:1:lin2", "0:1:2", "1:10:log", "-1:1:log2", "1:1:3", "0.1", "16,32",
           "{hidden}", "glorot_uniform([2, {hidden}])", "1:2:3:4", ":", "he_normal()")  # fmt: skip
_OPTIMIZERS = ("l2(1e-4)", "decoupled(0.01)", "global_norm(1)", "norm(1)", "value(0.1)", "",
               "exponential_decay(10, 0.9)", "warmup(3) * cosine_decay(9)")  # fmt: skip
_LEFT_OUT = (*(made.name for made in PASSES), *BY_CODE, "none")
_SIZES = ("1MiB", "64MiB", "4GiB", "0", "1")

_NEEDED = {"sweep": "--set"}  # without it hardly anything of the command is tried

Make = Callable[[Random, str], str]


def line(dice: Random) -> str:
    """A command with its arguments, one in each line of the text."""
    verb = dice.choice([name for name in VERBS if name not in _ELSEWHERE])
    example = dice.choice(examples())
    actions = [a for a in verb_parser(verb)._actions if not isinstance(a, argparse._HelpAction)]
    words = [verb]
    for action in actions:
        if not action.option_strings:
            words += _positional(dice, action, example)
    options = [a for a in actions if a.option_strings and "--sandbox" not in a.option_strings]
    drawn = dice.sample(options, min(len(options), dice.choice((0, 1, 1, 2, 3, 4))))
    needed = [a for a in options if _NEEDED.get(verb) in a.option_strings and dice.random() < 0.9]
    for action in (*needed, *drawn):
        words += _option(dice, action, example)
    if any("--timeout" in action.option_strings for action in options):
        words += ["--timeout", _SECONDS]
    return "\n".join(" ".join(word.splitlines()) for word in words)


def _positional(dice: Random, action: argparse.Action, example: str) -> list[str]:
    if action.choices:
        return [dice.choice([*map(str, action.choices)])]
    match action.dest:
        case "file":
            return [f"{HERE}/{example if dice.random() < 0.97 else 'none'}.gradstep"]
        case "other":
            other = dice.choice((example, dice.choice(examples())))
            return [f"{HERE}/{other}.gradstep"]
        case "out":
            return [_out(dice, example)]
        case "expression":
            return [_expression(dice, example)]
    return [] if action.nargs in ("?", "*") else [HERE]


def _option(dice: Random, action: argparse.Action, example: str) -> list[str]:
    option = dice.choice(action.option_strings)
    if action.nargs == 0:
        return [option]
    if action.choices:
        return [option, dice.choice([*map(str, action.choices)])]
    make = _VALUES.get(option, _number)
    count = dice.choice((1, 1, 2)) if action.nargs == "+" else 1
    return [option, *(_value(dice, make, example) for _ in range(count))]


def _value(dice: Random, make: Make, example: str) -> str:
    return odd.text(dice, []) if dice.random() < 0.05 else make(dice, example)


# -- values, by the option they are of ------------------------------------------------------------


def _node(dice: Random, example: str) -> str:
    return odd.text(dice, [*document(example).graph.operations])


def _tensor(dice: Random, example: str) -> str:
    """Mostly what the document itself asks about."""
    request, fetches = document(example).request, document(example).fetches
    asked = [*map(str, (*request.of, *request.wrt, *fetches))]
    return dice.choice(asked) if asked and dice.random() < 0.6 else _node(dice, example)


def _scope(dice: Random, example: str) -> str:
    return _node(dice, example).partition("/")[0]


def _feed(dice: Random, example: str) -> str:
    graph = document(example).graph
    fed = [op.name for op in graph if op.type in ("Placeholder", "VariableV2", "Const")]
    return f"{odd.text(dice, fed)}={dice.choice(_LITERALS)}"


def _rows(dice: Random, example: str) -> str:
    return f"{odd.text(dice, [op.name for op in document(example).graph])}={dice.choice(_ROWS)}"


def _setting(dice: Random, example: str) -> str:
    """Of a sweep."""
    graph = document(example).graph
    valued = [op.name for op in graph if op.type in ("Placeholder", "VariableV2", "Const")]
    attributes = [f"{op.name}.{name}" for op in graph for name in op.attrs]
    known = ("learning_rate", "train_1.beta1", "batch", "hidden", "train")
    of_optimizer = [name for one in document(example).optimizers for name in one.hyper]
    name = odd.text(dice, dice.choice([n for n in (valued, attributes, of_optimizer, known) if n]))
    values = dice.choice((*_RANGES, ",".join(dice.choices(_LITERALS, k=dice.choice((1, 2))))))
    return f"{name}={values}"


def _override(dice: Random, example: str) -> str:
    graph = document(example).graph
    target = odd.text(dice, [*graph.operations, *{op.type for op in graph}])
    return f"{target}={odd.text(dice, ['Identity', 'Zero', 'Sub', *document(example).code])}"


def _place(dice: Random, example: str) -> str:
    return f"{_node(dice, example)}={dice.choice(('', *_DEVICES))}"


def _expression(dice: Random, example: str) -> str:
    return expression(dice, [*document(example).graph.operations], 3)


def _out(dice: Random, example: str) -> str:
    if dice.random() < 0.1:
        return dice.choice((f"{HERE}/{example}.gradstep", HERE, "", "-"))
    return f"{HERE}/out{dice.choice(_OUT)}"


def _script(dice: Random, example: str) -> str:
    return console_script(dice, [*document(example).graph.operations])


def _number(dice: Random, example: str) -> str:
    return str(odd.number(dice)) if dice.random() < 0.2 else str(dice.randrange(1, 4))


def _one_of(*choices: str) -> Make:
    return lambda dice, example: dice.choice(choices)


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
    "--without": _one_of(*_LEFT_OUT),
    "--memory": _one_of(*_SIZES),
    "--set": _setting,
    "--cluster": _one_of("tcp://127.0.0.1:1", "", "nowhere"),
    "--text": _one_of("it holds", "", "<b>"),
    "--tag": _one_of("loss", "*"),
    "--engine": _one_of("here", "ssh://", "nowhere"),
}


# -- the line itself ------------------------------------------------------------------------------


def try_line(text: str) -> None:
    """Do what it says, in the folder that one stands in. Raises whatever is no GradstepError."""
    here, words = Path.cwd(), text.split("\n")
    for name in examples():
        if f"{HERE}/{name}.gradstep" in words:
            shutil.copy(EXAMPLES / f"{name}.gradstep", here)
    with _unforeseen_raised(here / "own"):
        said = io.StringIO()  # which cannot be muted, as is done where an OSError comes out whole
        with (
            redirect_stdout(said),
            redirect_stderr(said),
            patch.object(sys, "stdin", io.StringIO()),
        ):
            try:
                main([word.replace(HERE, str(here)) for word in words], Gradstep())
            except SystemExit as end:
                if end.code not in (0, 2):  # of argparse
                    raise AssertionError(f"it ended with {end.code}") from end
    if "InternalError" in said.getvalue():
        raise AssertionError(said.getvalue())


@contextmanager
def _unforeseen_raised(home: Path) -> Iterator[None]:
    """What nobody foresaw is raised, and the user's own places are in `home`."""
    places = "HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"
    own = dict.fromkeys(places, str(home))
    with patch.dict(os.environ, {**own, "GRADSTEP_TRACEBACK": "1"}):
        yield
