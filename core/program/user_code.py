"""A document's custom Python: from source text to callables, and only when it is trusted."""

from __future__ import annotations

import ast
import errno
import functools
import io
import linecache
import traceback
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from typing import Any

from gradstep.core.document.document import CodeItem, CodeKind
from gradstep.core.document.function_lookup import meant
from gradstep.core.errors import GradstepError, Interrupted
from gradstep.core.memory_release import forget_with_document
from gradstep.core.ops.state.print_output import Print, say
from gradstep.core.program.sandbox import is_confined

Function = Callable[..., Any]

_LONGEST = 4096  # characters that are printed without an end of line before they are passed on


def functions_of(
    items: Iterable[CodeItem], trusted: bool, output: Print = say
) -> tuple[dict[str, Function], list[GradstepError]]:
    """A callable for each item by name, and what is wrong with the items that have none.

    An item that is not trusted, or is broken, still gets a callable: one that raises its error,
    so that whatever calls it fails at its node with the reason. `output` gets what they print.
    """
    functions: dict[str, Function] = {}
    problems: list[GradstepError] = []
    for item in items:
        try:
            functions[item.name] = compile_item(item, trusted, output)
        except GradstepError as error:
            functions[item.name] = _refusal(error)
            problems.append(error.at(item.name))
    return functions, problems


def compile_item(item: CodeItem, trusted: bool, output: Print = say) -> Function:
    """The function that `item` means. Raises GradstepError: UntrustedCodeError before anything is
    compiled, CodeError when the source has no function or cannot be executed."""
    if not trusted:
        raise GradstepError(
            f"Python function '{item.name}' does not run: this document has not been trusted",
            kind="UntrustedCodeError",
            hint="read the code, then choose Review and trust…",
        )
    filename = _file(item)
    name = _function(item, filename)
    _show_in_tracebacks(filename, item.source)
    namespace = _namespace(item)
    _guarded(item, output, exec, compile(item.source, filename, "exec"), namespace)
    function = namespace.get(name)
    if not callable(function):
        raise _code_error(item, f"'{name}' is no longer a function at the end of the code")
    return functools.wraps(function)(functools.partial(_guarded, item, output, function))


def _function(item: CodeItem, filename: str) -> str:
    try:
        tree = ast.parse(item.source, filename)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        raise _code_error(item, getattr(error, "msg", None) or str(error), line) from None
    name = meant(tree, item.name)
    if name is None:
        raise _code_error(item, "no function is defined at the top level of the code")
    return name


def _namespace(item: CodeItem) -> dict[str, Any]:
    import numpy as np

    from gradstep.core.ops import api

    return {"__name__": item.name, "np": np, "tf": api}


def _guarded(item: CodeItem, output: Print, function: Function, *args: Any, **kwargs: Any) -> Any:
    """Call `function`; what it prints goes to `output`, and what it raises names its line."""
    printed = _Printed(output)
    try:
        with redirect_stdout(printed):
            return function(*args, **kwargs)
    except (GradstepError, Interrupted):
        raise
    except BaseException as error:  # KeyboardInterrupt and SystemExit, too: they are the code's own
        raise _raised(item, error) from error
    finally:
        printed.flush()


def _raised(item: CodeItem, error: BaseException) -> GradstepError:
    what = " ".join(f"{type(error).__name__}: {error}".split())
    if isinstance(error, OSError) and is_confined():
        return _refused(item, error, what)
    return _code_error(item, what.removesuffix(":"), _line_in(item, error))


def _refused(item: CodeItem, error: OSError, what: str) -> GradstepError:
    """What failed where there are no network and no files: probably therefore."""
    by_sandbox = error.errno in (errno.EPERM, errno.EACCES, errno.EROFS)
    why = "the sandbox refused it" if by_sandbox else "it runs in a sandbox"
    return GradstepError(
        f"{_place(item, _line_in(item, error))}: {what}; {why}, without network and files",
        kind="SandboxError",
        hint="if it is to have them, and you trust it with them, choose Review and trust…, or "
        "pass --trust",
    )


def _line_in(item: CodeItem, error: BaseException) -> int | None:
    """The deepest line of the item's own source that the error went through."""
    frames = traceback.walk_tb(error.__traceback__)
    lines = [line for frame, line in frames if frame.f_code.co_filename == _file(item)]
    return lines[-1] if lines else None


def _file(item: CodeItem) -> str:
    """What stands for the file in tracebacks; the name is the user's, or a graph's."""
    return f"<{item.name.encode('unicode_escape').decode()}>"


def _show_in_tracebacks(filename: str, source: str) -> None:
    """Let Python find its lines, until another document is open."""
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    _shown.add(filename)


def _forget_shown() -> None:
    while _shown:
        linecache.cache.pop(_shown.pop(), None)


_shown: set[str] = set()
forget_with_document(_forget_shown)


def _code_error(item: CodeItem, what: str, line: int | None = None) -> GradstepError:
    hint = _WITHOUT if _TENSORFLOW in what else _SIGNATURE[item.kind]
    return GradstepError(f"{_place(item, line)}: {what}", kind="CodeError", hint=hint)


def _place(item: CodeItem, line: int | None) -> str:
    return f"'{item.name}', line {line}" if line else f"'{item.name}'"


_TENSORFLOW = "No module named 'tensorflow"
_WITHOUT = "leave that import out: tf is there already, and builds Gradstep's operations; so is np"
_SIGNATURE = {
    CodeKind.GRADIENT: "the function is called as f(op, grad): one gradient per output in, "
    "one per input out",
    CodeKind.NUMPY_GRADIENT: "the function is called with one gradient per output and then "
    "the inputs, as NumPy arrays: one gradient per input out",
    CodeKind.PYFUNC: "the function is called with the inputs as NumPy arrays",
}


def _refusal(error: GradstepError) -> Function:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        # A fresh one each time: an error is located at the node that raised it.
        raise GradstepError(error.message, kind=error.kind, hint=error.hint)

    return refuse


class _Printed(io.TextIOBase):
    """A text stream that passes on whole lines, long ones in pieces, and the rest when flushed."""

    def __init__(self, output: Print) -> None:
        self._output = output
        self._line = ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        lines, newline, self._line = (self._line + text).rpartition("\n")
        if newline:
            self._output(lines + newline)
        if len(self._line) > _LONGEST:
            self.flush()
        return len(text)

    def flush(self) -> None:
        if self._line:
            self._output(self._line)
        self._line = ""
