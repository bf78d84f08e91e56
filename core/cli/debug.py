"""The debugger in the terminal: interactive, or a script of commands."""

from __future__ import annotations

import argparse
import contextlib
import sys
import threading
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from gradstep.core.cli.application_protocol import Answer, Application
from gradstep.core.cli.arguments.chosen_devices import open_devices
from gradstep.core.cli.arguments.document_args import as_it_stands, load
from gradstep.core.cli.console.console import Console
from gradstep.core.cli.console.console_command import Reply
from gradstep.core.cli.console.line_completion import complete
from gradstep.core.cli.output.command_output import error_object, usage
from gradstep.core.cli.output.said_problems import say_problems
from gradstep.core.command_text import commands_in, is_open
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.document.kept_branches import begin as begin_branches
from gradstep.core.errors import GradstepError, error_text
from gradstep.core.host.process.interrupt import on_interrupt
from gradstep.core.host.session_restore import begin
from gradstep.core.io.disk.file_bytes import read_file
from gradstep.core.ops.state.print_output import Print, printing_to, to_stderr
from gradstep.core.program.derive import derive
from gradstep.core.program.race_problems import problems_of
from gradstep.core.program.runnable_part import drop_unfinished

PROMPT = "(gradstep) "
GOES_ON = "... "  # before a further line of a command
_INTERRUPTED = GradstepError("the script was interrupted", kind="CancelledError")


def execute(args: argparse.Namespace, app: Application) -> Answer | int:
    """Run the script (with --json and without one, what stands on standard input), or talk to
    the terminal until its end."""
    loaded = load(args)
    document = loaded.document
    program = drop_unfinished(derive(document, loaded.functions))
    threads = begin(program, open_devices(args, app.devices(), document))
    if document.branches:
        threads.begin_branches(begin_branches(document.branches))
    console = Console(
        threads,
        partial(_other_program, args),
        document.breakpoints,
        document.watches,
        app.devices,
    )
    say_problems(problems_of(threads.session))
    if args.script is not None or args.json:
        lines = script_lines(sys.stdin.read() if args.script is None else args.script)
        return run_script(console, lines)
    if args.timeout is not None:
        raise usage("--timeout is for scripts", "add --script, or leave --timeout out")
    interact(console, input, print)
    return 0


def _other_program(args: argparse.Namespace, file: str) -> Program:
    """Of another file, as it stands, for sessions of several graphs."""
    given = {**vars(args), "file": file, "code": None}  # whatever else holds for the first
    loaded = as_it_stands(argparse.Namespace(**given))
    return drop_unfinished(derive(loaded.document, loaded.functions))


def script_lines(script: str) -> list[str]:
    """The commands in a file of that name, or in the text itself: see command_text."""
    known = "\n" not in script and ";" not in script and _is_file(script)
    text = read_file(script).decode(errors="replace") if known else script
    return commands_in("\n".join(text.splitlines()), is_script=True)


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # it is too long for a name, or none
        return False


def run_script(console: Console, lines: Iterable[str]) -> Answer:
    """Every command with what it did, up to the first that fails; exit status 1 for one, and for
    a run that stands at a failed step in the end."""
    done: list[dict[str, Any]] = []
    texts = [console.where().text]
    data: dict[str, Any] = {"commands": done}
    interrupted = threading.Event()

    def end() -> None:
        interrupted.set()
        console.threads.pause()

    for line in lines:
        printed: list[str] = []
        try:
            with on_interrupt(end), printing_to(_noting(printed)):
                reply = console.execute(line)
        except GradstepError as error:
            data["error"] = error_object(error)
            texts += [f"{PROMPT}{line}", f"error: {error_text(error)}"]
            break
        output = {"output": "".join(printed)} if printed else {}
        done.append({"command": line, **reply.data, **output})
        texts += [f"{PROMPT}{line}", *filter(None, [reply.text])]
        if interrupted.is_set():
            data["error"] = error_object(_INTERRUPTED)
            break
        if reply.quit:
            break
    if "error" not in data and console.failed and console.session.stop.error is not None:
        data["error"] = error_object(console.session.stop.error)
    return Answer(data, "\n".join(texts), 1 if "error" in data else 0)


def _noting(printed: list[str]) -> Print:
    """What is printed, or logged, is said at once, and is in the answer, too."""

    def note(text: str) -> None:
        printed.append(text)
        to_stderr(text)

    return note


def interact(console: Console, ask: Callable[[str], str], say: Callable[[str], None]) -> None:
    """Read commands until `quit` or the end of input; an error is said, and the next one asked."""
    _with_history(console)
    say(console.where().text)
    say("help lists the commands; an empty line repeats the last move")
    while True:
        try:
            commands = _asked(ask)
            with on_interrupt(console.threads.pause):
                for line in commands[:-1]:
                    say(console.execute(line).text)
                reply = console.execute(commands[-1])
        except EOFError:
            return
        except KeyboardInterrupt:
            say("")
            continue
        except GradstepError as error:
            reply = Reply(f"error: {error_text(error)}")
        if reply.text:
            say(reply.text)
        if reply.quit:
            return


def _asked(ask: Callable[[str], str]) -> list[str]:
    """What is typed, with further lines as long as it goes on; one command at least. What came in
    several lines is one entry of the history."""
    lines = [ask(PROMPT)]
    while is_open("\n".join(lines)):
        lines.append(ask(GOES_ON))
        if not lines[-1].strip():
            break
    commands = commands_in("\n".join(lines)) or [""]
    if len(lines) > 1:
        _join_history(len([line for line in lines if line]), " ".join(commands))
    return commands


def _join_history(count: int, line: str) -> None:
    with contextlib.suppress(ImportError):
        import readline

        length = readline.get_current_history_length()
        if length >= count:
            for number in range(length - 1, length - 1 - count, -1):
                readline.remove_history_item(number)
            readline.add_history(line)


def _with_history(console: Console) -> None:
    """Let the terminal's line be edited, and completed by Tab, where Python can."""
    with contextlib.suppress(ImportError):
        import readline

        lines: list[str] = []

        def next_line(_: str, number: int) -> str | None:
            if number == 0:
                lines[:] = complete(console, readline.get_line_buffer())
            return lines[number] if number < len(lines) else None

        readline.set_completer_delims("\n")  # the whole line is completed
        readline.set_completer(next_line)
        readline.parse_and_bind("tab: complete")
