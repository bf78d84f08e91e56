"""The functions that a graph asks for by name, from a file of Python that the user names."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path

from gradstep.core.document.document import CodeItem, Document
from gradstep.core.document.function_lookup import functions_in, serves
from gradstep.core.document.required_python import Asked, find_requested_functions
from gradstep.core.errors import USAGE, GradstepError
from gradstep.core.graph.suggestions import did_you_mean, list_more, near
from gradstep.core.io.disk.file_bytes import read_file


def code_from(document: Document, file: str) -> dict[str, CodeItem]:
    """What the document asks for and the file has, by name. Nothing of it is run. Raises
    GradstepError for a file that is not Python, or has nothing that is asked for."""
    source = read_file(file).decode("utf-8-sig", errors="replace")
    functions = functions_in(_parsed(source, Path(file).name))
    asked = find_requested_functions(document)
    # Each with the whole file, so that helpers are there, and lines are numbered as in it.
    found = {a.name: CodeItem(a.name, a.kind, source) for a in asked if serves(functions, a.name)}
    if not found:
        raise _nothing(file, functions, asked)
    return found


def _parsed(source: str, file: str) -> ast.Module:
    try:
        return ast.parse(source, file)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        place = f"{file}, line {line}" if line else file
        raise GradstepError(
            f"{place}: {getattr(error, 'msg', None) or error}",
            kind="CodeError",
            hint="the code is to be a file of Python functions",
        ) from None


def _nothing(file: str, functions: Mapping[str, object], asked: Sequence[Asked]) -> GradstepError:
    if not asked:
        return _usage("the graph asks for no Python", "leave the code out")
    heads = [a.head.removeprefix("def ").rstrip(":") for a in asked]
    meant = [word for name in functions for word in near(name, [a.name for a in asked])]
    there = list_more(functions).replace("there are", "has").replace("there is", "has")
    return _usage(
        f"{file} {there or 'has no function'}, and the graph asks for {', '.join(heads)}",
        did_you_mean(dict.fromkeys(meant)) or "`gradstep check` prints what to write",
    )


def _usage(message: str, hint: str) -> GradstepError:
    return GradstepError(message, kind=USAGE, hint=hint)
