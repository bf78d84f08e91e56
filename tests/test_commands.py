"""Every command that a page or a hint names is one: the real parsers read it."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from gradstep.core.cli.arguments.shared_arguments import Parser
from gradstep.core.cli.command_line import VERBS, verb_parser, window_parser
from gradstep.core.errors import GradstepError

ROOT = Path(__file__).resolve().parent.parent
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
PAGES = [page for page in PAGES if page.name != "CHANGELOG.md"]  # it tells of commands that were
SOURCES = [
    ROOT / "main.py",
    *(f for top in ("core", "gpu", "gui") for f in (ROOT / top).rglob("*.py")),
]

_FENCE = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`((?:gradstep|\./dev) [^`\n]+)`")
_BARE = re.compile(r"(?<![\w./`-])(?:gradstep|\./dev) (?!COMMAND)(?:[a-z]+|--[a-z-]+)")
_OPTION = re.compile(r"(?<!\S)--[a-z][\w-]*")
_OUTDATED = ("python main.py", "uv sync", "--extra ")


@cache
def dev_verbs() -> frozenset[str]:
    """What the case at the end of ./dev takes."""
    text = (ROOT / "dev").read_text(encoding="utf-8")
    (row,) = re.findall(r"^  (setup \| .*)\) \"\$command\"", text, re.MULTILINE)
    return frozenset({*row.split(" | "), "kill", "test"})


@cache
def dev_help() -> str:
    return (
        (ROOT / "dev")
        .read_text(encoding="utf-8")
        .partition("cat <<'TEXT'")[2]
        .partition("\nTEXT")[0]
    )


@cache
def parser_of(verb: str) -> Parser:
    return verb_parser(verb)


def why_wrong(command: str) -> str:
    """What keeps `command`, a mention, from being one; "" for nothing. Values may be left out."""
    program, first, *_ = command.split()
    options = _OPTION.findall(command)
    if program == "./dev":
        if first not in dev_verbs():
            return f"./dev has no {first}"
        missing = [x for x in options if first != "run" and x not in dev_help() + " --cpu --only"]
        return f"./dev help does not tell of {missing}" if missing else ""
    if first.startswith("-"):
        return "" if first in window_parser()._option_string_actions else f"there is no {first}"
    if first not in VERBS:
        is_file = first.isupper() or "." in first or first.startswith("[")
        return "" if is_file else f"there is no verb {first}"
    known = parser_of(first)._option_string_actions
    missing = [option for option in options if option not in known]
    return f"{first} takes no {missing}" if missing else ""


def why_unread(line: str) -> str:
    """The same of a whole line: all that it needs is there, too."""
    words = shlex.split(line, comments=True)
    if words[0] != "gradstep" or words[1] not in VERBS:
        return why_wrong(shlex.join(words))
    try:
        parser_of(words[1]).parse_args(words[2:])
    except GradstepError as error:
        return error.message
    return ""


def lines_of(page: str) -> Iterator[str]:
    for block in _FENCE.findall(page):
        for line in block.splitlines():
            if line.startswith(("gradstep ", "./dev ")):
                yield line


def literals(source: str) -> Iterator[str]:
    """Texts in Python, but for docstrings. What is filled in later is left open."""
    tree = ast.parse(source)
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values
            )


def mentions(text: str) -> Iterator[str]:
    yield from _SPAN.findall(text)
    yield from _BARE.findall(text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_names_commands_that_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    wrong = {line: why for line in lines_of(text) if (why := why_unread(line))}
    plain = _FENCE.sub("", text)
    wrong |= {command: why for command in mentions(plain) if (why := why_wrong(command))}
    assert wrong == {}
    assert [word for word in _OUTDATED if word in text] == []


@pytest.mark.slow
def test_hints_name_commands_that_exist() -> None:
    wrong, seen = {}, 0
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        if not (_SPAN.search(text) or _BARE.search(text) or any(x in text for x in _OUTDATED)):
            continue  # parsing all there is takes seconds
        for literal in [*literals(text), *map("`{}`".format, _SPAN.findall(text))]:
            for command in mentions(literal):
                seen += 1
                if why := why_wrong(command):
                    wrong[f"{path.relative_to(ROOT)}: {command}"] = why
            outdated = [word for word in _OUTDATED if word in literal]
            assert outdated == [], path
    assert wrong == {}
    assert seen > 30


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("gradstep grad FILE --of loss --wrt a b --check  # words", ""),
        ("gradstep grad FILE --offf loss", "unrecognized arguments: --offf loss"),
        ("gradstep compare", "the following arguments are required: FILE"),
        ("gradstep frob FILE", "there is no verb frob"),
        ("gradstep FILE.gradstep", ""),
        ("gradstep --versoin", "there is no --versoin"),
        ("./dev test --cpu haswell", ""),
        ("./dev tset", "./dev has no tset"),
        ("./dev soak --walks 3", "./dev help does not tell of ['--walks']"),
    ],
)
def test_a_line_that_is_none_is_found(line: str, why: str) -> None:
    assert why_unread(line) == why


def test_mentions_are_found() -> None:
    text = "try `gradstep run FILE --threads`, or gradstep doctor; in core.gradstep files not"
    assert [*mentions(text)] == ["gradstep run FILE --threads", "gradstep doctor"]
    code = 'hint = f"./dev setup installs {name}, `gradstep trust list` shows"'
    assert [*mentions(next(literals(code)))] == ["gradstep trust list", "./dev setup"]
