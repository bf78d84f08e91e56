"""The console's commands for branches: a value given here, the branches there are, another one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from gradstep.core.cli.console.console_command import ConsoleCommand, Reply
from gradstep.core.cli.console.move_commands import needs
from gradstep.core.cli.output.branch_table import branch_table
from gradstep.core.data.array_files import Reading
from gradstep.core.data.value_text import typed_value
from gradstep.core.debug.history.program_tensors import find_tensor
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.host.edit_trials import run_by, source_of
from gradstep.core.host.moment_text import read_moment
from gradstep.core.host.program_reports import branch_infos
from gradstep.core.host.tensors.slice_syntax import parse_slice
from gradstep.core.program.questions.edit_words import EXAMPLES, read_edit
from gradstep.core.protocol.branch_queries import SEED
from gradstep.core.protocol.messages import CompareMoments, ManageBranches, Moment

if TYPE_CHECKING:
    import numpy as np

    from gradstep.core.cli.console.console import Console

_GIVEN = re.compile(r"([^\s=\[]+)\s*(\[[^=]*\])?\s*=(.+)", re.DOTALL)


def inject(console: Console, rest: str) -> Reply:
    """`inject NAME[PART] = VALUE`: it has another value here, on a branch of its own; VALUE as
    after --feed. `inject seed = 7`: other random numbers from here on."""
    found = _GIVEN.fullmatch(rest.strip())
    if found is None:
        raise needs("inject", "a tensor and a value: inject c = [1, 2], inject c[0] = 3")
    name, at, text = found[1], found[2] or "", found[3].strip()
    if name == "seed" and name not in console.session.program.graph and not at:
        whole = TensorType(DType.INT64, Shape(()))
        return console.acts.inject(
            SEED, "", typed_value(text, whole, name, Reading()), console.where
        )
    value = _value(console, name, at, text)
    return console.acts.inject(name, at, value, console.where)


def _value(console: Console, name: str, at: str, text: str) -> np.ndarray:
    """What is written, as the tensor, or that part of it, has values."""
    held = console.session.frame().value(find_tensor(console.session.program, name))
    if held is None:  # the engine says why
        return typed_value(text, TensorType(DType.FLOAT32, Shape(None)), name, Reading())
    shape = parse_slice(at, held.shape).sizes if at else held.shape
    kind = TensorType(DType.of(held.dtype), Shape(tuple(shape)))
    return typed_value(text, kind, name + at, Reading())


def fork(console: Console, rest: str) -> Reply:
    """`fork stop NODE`, `fork stop NODE<0`, `fork override NODE RULE`, `fork native NODE`,
    `fork set NODE.ATTR = VALUE`, `fork set learning_rate = 0.01`: the program is that from this run
    on, on a branch of its own."""
    edited = read_edit(run_by(source_of(console.session).document, console.session), rest)
    if edited is None:
        examples = ", ".join(f"fork {each}" for each in EXAMPLES.split(", "))
        raise needs("fork", f"an edit: {examples}")
    kind, names = edited
    request = ManageBranches(command="edit", kind=kind, edited=[*names])
    return console.acts.branch(request, console.where)


def branches(console: Console, rest: str = "") -> Reply:
    """All of them: where each leaves another, what was given there, where it stands."""
    infos = branch_infos(console.threads.branches)
    found = [msgspec.to_builtins(info) for info in infos]
    text = branch_table(infos) if infos else "there is one branch: inject and fork make others"
    return Reply(text, {"branches": found, "branch": console.threads.branches.current})


def branch(console: Console, name: str) -> Reply:
    """`branch NAME`: the values are that branch's from now on."""
    if not name:
        return branches(console)
    return console.acts.branch(ManageBranches(command="switch", name=name), console.where)


def rename(console: Console, rest: str) -> Reply:
    """`rename NAME to OTHER`."""
    name, word, to = rest.partition(" to ")
    if not word:
        raise needs("rename", "a branch and its new name: rename b1 to larger")
    request = ManageBranches(command="rename", name=name.strip(), to=to.strip())
    return console.acts.branch(request, lambda: branches(console))


def drop(console: Console, name: str) -> Reply:
    """`drop NAME`: there is no such branch any more."""
    if not name:
        raise needs("drop", "the name of a branch")
    request = ManageBranches(command="drop", name=name)
    return console.acts.branch(request, lambda: branches(console))


def compare(console: Console, rest: str) -> Reply:
    """`compare LEFT [RIGHT]`: which values are others there; RIGHT is here. Each is a branch or a
    session, RUN:STEP, or NAME@RUN:STEP."""
    words = rest.split()
    if not 1 <= len(words) <= 2:
        raise needs("compare", "one or two moments: compare main, compare b1@0:5 b2, compare 0:3")
    left = read_moment(console.sessions, words[0])
    right = read_moment(console.sessions, words[1]) if len(words) == 2 else Moment()
    return console.acts.compare(CompareMoments(left=left, right=right))


BRANCH_COMMANDS = (
    ConsoleCommand(
        "inject",
        inject,
        "NAME = VALUE, NAME[0, :] = VALUE, seed = 7: what it is from here on, on a new branch",
    ),
    ConsoleCommand(
        "fork",
        fork,
        "stop NODE, unstop NODE, override NODE RULE, native NODE, set NODE.ATTR = VALUE, set "
        "learning_rate = VALUE: the program is that from this run on, on a new branch",
    ),
    ConsoleCommand(
        "branches", branches, "all branches: where each leaves, what was given there", alone=True
    ),
    ConsoleCommand("branch", branch, "NAME: the values are that branch's from now on"),
    ConsoleCommand("rename", rename, "NAME to OTHER: a branch has another name"),
    ConsoleCommand("drop", drop, "NAME: there is no such branch any more"),
    ConsoleCommand(
        "compare",
        compare,
        "LEFT [RIGHT]: which values are others; a branch, a session, RUN:STEP or NAME@RUN:STEP",
    ),
)
