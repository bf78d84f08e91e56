"""Texts that users type, each at the door it is typed into: its suffix."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cache
from random import Random
from typing import Any

import numpy as np

from gradstep.core.cli.arguments.feed_args import parse_feed
from gradstep.core.cli.console.console import Console
from gradstep.core.cli.debug import script_lines
from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.breaks.expression import Scope, parse
from gradstep.core.debug.breaks.expression_names import find_mentions
from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document import document_edits
from gradstep.core.document.document import CodeItem, CodeKind
from gradstep.core.document.function_lookup import functions_in, meant
from gradstep.core.document.request_edits import set_request
from gradstep.core.document.required_python import missing_code
from gradstep.core.engine.run.feed_values import feed_arrays
from gradstep.core.errors import GradstepError
from gradstep.core.graph.edits import rename, rename_scope
from gradstep.core.graph.model import Edge, TensorRef
from gradstep.core.io import export_document, format_table
from gradstep.core.io.native import gradstep_file
from gradstep.core.program.derive import derive
from gradstep.core.program.runnable_part import drop_unfinished
from tests.fuzz import command_lines, odd
from tests.fuzz.case import MARK, Case
from tests.fuzz.console_scripts import console_script
from tests.fuzz.examples import document
from tests.fuzz.expressions import expression
from tests.fuzz.own_folder import own_folder

_BASES = ("tutorial", "while_loop", "cond_gradients", "queue_deadlock", "learning_rates")


def case(dice: Random, only: str = "") -> Case:
    """One text; `only`: at this door."""
    suffix = only or dice.choice(_OFTEN)
    return Case(suffix, _MAKERS[suffix](dice, _names()).encode("utf-8", "replace"))


def expression_case(dice: Random) -> Case:
    return case(dice, ".expression")


def command_case(dice: Random) -> Case:
    return case(dice, ".command")


def try_text(suffix: str, text: str) -> None:
    """Raises whatever is no GradstepError. Commands that are typed may write files."""
    with own_folder():
        _TRIERS[suffix](text)


@cache
def _session(name: str) -> DebugSession:
    """At the end of its first run, to be looked at only."""
    session = DebugSession(derive(document(name)))
    session.continue_()
    return session


@cache
def _names() -> list[str]:
    return [name for base in _BASES for name in document(base).graph.operations]


def _asked(action: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return action(*arguments)
    except GradstepError as error:
        if error.kind == "InternalError":
            raise AssertionError(error.message) from error
        return None


# -- expressions -----------------------------------------------------------------------------------


def _expression(dice: Random, names: list[str]) -> str:
    return expression(dice, names)


def _try_expression(text: str) -> None:
    _asked(find_mentions, text)
    parsed = _asked(parse, text)
    if parsed is None:
        return
    for base in ("tutorial", "while_loop"):
        session = _session(base)
        frame = session.frame()
        for subject in (None, TensorRef(session.plan.steps[0].op.name)):
            np.asarray(_asked(parsed.evaluate, Scope(frame, subject)))  # as its readers do
            _asked(parsed.holds, Scope(frame, subject))


# -- the terminal's debugger -----------------------------------------------------------------------


def _try_console(text: str) -> None:
    base = _BASES[len(text) % len(_BASES)]
    program = drop_unfinished(derive(document(base)))
    console = Console(Scheduler(program, limit_bytes=8 << 20), _no_other, ())
    for line in script_lines(f"{text}\n;where"):
        reply = _asked(console.execute, line)
        if reply is not None and reply.quit:
            return


def _no_other(file: str) -> Any:
    raise GradstepError(f"there is no file {file}", kind="FileError")


# -- feeds, names ----------------------------------------------------------------------------------


def _feed(dice: Random, names: list[str]) -> str:
    return f"{odd.text(dice, ['data', 'labels', *names])}={_literal(dice)}"


def _literal(dice: Random, depth: int = 0) -> str:
    what = dice.randrange(8)
    if what < 2 and depth < 40:
        inner = ", ".join(_literal(dice, depth + 1) for _ in range(dice.randrange(4)))
        return dice.choice(("[{}]", "({})", "[{}", "{{{}}}")).format(inner)
    if what == 2:
        return dice.choice(
            ("nan", "inf", "-inf", "true", "None", "1e400", "9" * 30, "9" * 5000, "1j")
        )
    if what == 3:
        return repr(dice.choice(odd.TEXTS))
    if what == 4:
        return dice.choice(
            (
                "[" * 300,
                "-" * 200 + "1",
                "1_0",
                "0x10",
                "@none.npy",
                "b'\\xff'",
                "''",
                "normal(0, 1, seed=2)",
                "zeros([3])",
                "range(1e9)",
                "1\t2\n3",
                "[1. 2.]",
                "@xor:x",
            )
        )
    return str(odd.number(dice))


def _try_feed(text: str) -> None:
    for base in ("tutorial", "cond_gradients"):
        graph = document(base).graph
        given = _asked(parse_feed, text, graph)
        if given is not None:
            _asked(feed_arrays, graph, dict([given]))


def _name(dice: Random, names: list[str]) -> str:
    return odd.slip(dice, odd.text(dice, names))


def _try_name(text: str) -> None:
    tutorial = document("tutorial")
    ref = _asked(TensorRef.parse, text)
    _asked(Edge.parse, text)
    _asked(document_edits.rename_operation, tutorial, "a", text)
    _asked(document_edits.rename_operation, tutorial, text, "a")
    _asked(rename, tutorial.graph, "a", text)
    _asked(rename_scope, document("while_loop").graph, "while", text)
    _asked(set_request, tutorial, [text], ["c"])
    _asked(document_edits.toggle_breakpoint, tutorial, text)
    for edge in (Edge(text, 0), Edge("a", len(text))):
        _asked(document_edits.disconnect, tutorial, edge)
        if ref is not None:
            _asked(document_edits.connect, tutorial, ref, edge)
    session = DebugSession(derive(document("while_loop")))
    _asked(session.run_to, text)
    _asked(session.set_breakpoints, [Breakpoint(text)])
    _asked(session.continue_)
    if ref is not None:
        _asked(session.frame().value, ref)


# -- code, and words for people --------------------------------------------------------------------

_LINES = (
    "def f(op, grad):", "    return grad", "return 1", "import os", "async def g(): pass",
    "@tf.RegisterGradient('Odd')", "class A: pass", "x = '''", "\0", "lambda: 0", "def é(): ...",
    "def f(): yield", "(" * 200, "# -*- coding: odd -*-", "\ufeff", "\f", "\r", "if True:", "",
    "print(1)", "0" * 5000, "'\ud7ff'", "f'{", "match x:\n  case 1: pass", MARK.strip(),
)  # fmt: skip


def _code(dice: Random, names: list[str]) -> str:
    return "\n".join(dice.choice(_LINES) for _ in range(dice.randrange(7)))


def _try_code(text: str) -> None:
    tutorial = document("tutorial")
    for kind in CodeKind:
        item = CodeItem("odd", kind, text)
        changed = document_edits.set_code(tutorial, item)
        _asked(export_document.to_bytes, changed, ".py")
        _asked(export_document.to_bytes, changed, ".gradstep")
        _asked(missing_code, changed)
        derive(changed)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    functions_in(tree)
    meant(tree, "odd")


def _words(dice: Random, names: list[str]) -> str:
    return "\n".join(dice.choice(odd.TEXTS) for _ in range(dice.randrange(1, 4)))


def _try_words(text: str) -> None:
    changed = document_edits.set_note(document("tutorial"), text, text, text, text)
    for suffix in format_table.suffixes_written(is_drawn=False):
        data = _asked(export_document.to_bytes, changed, suffix)
        if suffix == ".gradstep" and data is not None:
            again = gradstep_file.from_bytes(data)
            assert (again.title, again.note) == (changed.title, changed.note)


_MAKERS: Mapping[str, Callable[[Random, list[str]], str]] = {
    ".expression": _expression,
    ".console": console_script,
    ".feed": _feed,
    ".name": _name,
    ".code": _code,
    ".words": _words,
    ".command": lambda dice, names: command_lines.line(dice),
}
_OFTEN = (".expression",) * 10 + (".console", ".feed", ".feed", ".name", ".code", ".words")
_TRIERS: Mapping[str, Callable[[str], None]] = {
    ".expression": _try_expression,
    ".console": _try_console,
    ".feed": _try_feed,
    ".name": _try_name,
    ".code": _try_code,
    ".words": _try_words,
    ".command": command_lines.try_line,
}
