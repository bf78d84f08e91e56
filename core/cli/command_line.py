"""The command line's entry: which verb, and what becomes of its answer or error."""

from __future__ import annotations

import argparse
import importlib
import io
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gradstep.core.cli.application_protocol import Answer, Application
from gradstep.core.cli.arguments.output_files import require_other_file
from gradstep.core.cli.arguments.shared_arguments import Parser
from gradstep.core.cli.arguments.standard_input import documents_from_input
from gradstep.core.cli.arguments.time_limit import STATUS, time_limit
from gradstep.core.cli.command_table import VERBS
from gradstep.core.cli.output.command_output import error_object, report, report_error
from gradstep.core.cli.output.how_far import says_how_far
from gradstep.core.cli.output.terminal_text import visible_output
from gradstep.core.errors import USAGE, GradstepError
from gradstep.core.host.process.interrupt import interruptible


def main(arguments: Sequence[str], app: Application) -> int:
    """Do what the arguments say; the exit status: 0, 1 (it failed), 2 (bad usage) or 124 (it
    took longer than --timeout allows)."""
    _write_what_can_be_written()
    with visible_output():
        return _main(arguments, app)


def _main(arguments: Sequence[str], app: Application) -> int:
    try:
        with interruptible():
            status = _answer(arguments, app)
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except BrokenPipeError:
        return _mute()  # whoever read our output has gone
    except OSError as error:
        return _cannot_go_on(error)
    except KeyboardInterrupt:
        return 130


def _answer(arguments: Sequence[str], app: Application) -> int:
    as_json = "--json" in arguments
    if os.environ.get("GRADSTEP_TRACEBACK"):
        logging.basicConfig()  # what nobody foresaw is logged where it is caught
    try:
        _start_logging(arguments)
        return _dispatch(arguments, app)
    except GradstepError as error:
        return report_error(error, as_json)
    except MemoryError:
        return report_error(_too_large(), as_json)
    except OSError:
        raise
    except Exception as error:
        if os.environ.get("GRADSTEP_TRACEBACK"):
            raise
        return report_error(_bug(error), as_json)


def _start_logging(arguments: Sequence[str]) -> None:
    if os.environ.get("GRADSTEP_LOG"):
        from gradstep.core.host.process.logging_setup import start_logging

        start_logging(arguments[0] if arguments and arguments[0] in VERBS else "window")


def _dispatch(arguments: Sequence[str], app: Application) -> int:
    if arguments and arguments[0] in VERBS:
        return _execute(arguments[0], arguments[1:], app)
    first = Path(arguments[0]) if arguments and not arguments[0].startswith("-") else None
    if first is not None and not first.exists():
        raise _no_such(first)
    parsed = window_parser().parse_args(list(arguments))
    path = Path(parsed.file) if parsed.file else None
    if path is not None and not path.exists():
        raise _no_such(path)
    return app.window(path, parsed.engine)


def verb_parser(name: str) -> Parser:
    """What reads the arguments of one command."""
    verb = VERBS[name]
    parser = Parser(prog=f"gradstep {name}", description=verb.configure.__doc__)
    verb.configure(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    return parser


def _execute(name: str, arguments: Sequence[str], app: Application) -> int:
    args = verb_parser(name).parse_args(list(arguments))
    with says_how_far(), documents_from_input(name, args):
        return _done(name, args, app)


def _done(name: str, args: argparse.Namespace, app: Application) -> int:
    require_other_file(args, "reduce", "record")
    if getattr(args, "sandbox", False) and name != "engine":
        from gradstep.core.cli.sandboxed import confine_command, works_elsewhere

        if not works_elsewhere(name, args):
            confine_command(name, args)
    module: Any = importlib.import_module(f"gradstep.core.cli.{name}")
    answer: Answer | int = 0
    try:
        with time_limit(getattr(args, "timeout", None)) as limit:
            answer = module.execute(args, app)
    except GradstepError as error:
        if not limit.is_over:
            raise
        report_error(error, args.json)
        return STATUS
    if limit.is_over:
        return _late(answer, limit.error, args.json)
    return answer if isinstance(answer, int) else report(answer, args.json)


def _late(answer: Answer | int, error: GradstepError, as_json: bool) -> int:
    """What was done until the time was up, and that it was."""
    if isinstance(answer, Answer):
        report(Answer({**answer.data, "error": error_object(error)}, answer.text), as_json)
    if not (as_json and isinstance(answer, Answer)):
        report_error(error, as_json)
    return STATUS


def window_parser() -> Parser:
    """What reads the arguments where there is no command."""
    width = max(map(len, VERBS))
    verbs = "\n".join(f"  {name.ljust(width)}  {verb.help}" for name, verb in VERBS.items())
    parser = Parser(
        prog="gradstep",
        description="A debugger for backpropagation. Without a command: the window.",
        epilog=f"commands (gradstep COMMAND --help says more):\n{verbs}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", nargs="?", help="document to open in the window")
    parser.add_argument(
        "--engine",
        metavar="WHERE",
        default="",
        help="ssh://[user@]host[:port][/path/of/its/environment], or here (as the window was told "
        "last)",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show it, and end")
    return parser


def _no_such(path: Path) -> GradstepError:
    """Neither a file nor a command: the first word was one of the two."""
    if path.suffix:
        return GradstepError(f"there is no file {path}", kind="FileError", hint="check the path")
    from gradstep.core.graph.suggestions import did_you_mean, near

    words = [f"gradstep {verb}" for verb in near(str(path), VERBS)]
    hint = did_you_mean(words) or "see gradstep --help"
    return GradstepError(f"'{path}' is neither a file nor a command", kind=USAGE, hint=hint)


class _Version(argparse.Action):
    """`--version`. To look it up takes longer than a start should that does not ask."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from gradstep.core.version import version

        sys.stdout.write(f"gradstep {version()}\n")
        parser.exit()


def _write_what_can_be_written() -> None:
    """A terminal without Unicode gets escapes, not an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _cannot_go_on(error: OSError) -> int:
    """Files are read and written with errors of their own, so this is the answer itself."""
    what = error.filename or "cannot write the answer"
    print(f"gradstep: {what}: {error.strerror or error}", file=sys.stderr)
    return _mute()


def _mute() -> int:
    """Nothing more can be said, not even at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def _too_large() -> GradstepError:
    return GradstepError(
        "there is not enough memory for this",
        kind="ResourceExhaustedError",
        hint="use smaller tensors, or a machine with more memory",
    )


def _bug(error: Exception) -> GradstepError:
    return GradstepError(
        "Gradstep could not do that, for a reason that nobody foresaw",
        kind="InternalError",
        hint=f"please report it: with GRADSTEP_TRACEBACK=1 it shows where ({type(error).__name__})",
    )
