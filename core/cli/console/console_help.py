"""What the debugger's commands are called besides, and what `help` says of each."""

from __future__ import annotations

from collections.abc import Mapping

from gradstep.core.cli.console.session_commands import SESSION_HELP
from gradstep.core.cli.console.value_commands import VALUE_HELP

ALIASES: Mapping[str, str] = {
    "n": "step", "next": "step", "s": "step",
    "i": "step_into", "into": "step_into", "step_in": "step_into", "stepIn": "step_into",
    "o": "step_out", "out": "step_out", "stepOut": "step_out",
    "sb": "step_back", "back": "step_back", "stepBack": "step_back",
    "c": "continue", "continue_": "continue",
    "rc": "reverse_continue", "reverseContinue": "reverse_continue",
    "u": "run_to", "goto": "run_to",
    "b": "break", "p": "print", "g": "gradient", "grad": "gradient", "w": "where", "l": "list",
    "q": "quit", "exit": "quit", "?": "help",
}  # fmt: skip
HELP: Mapping[str, str] = {
    "step": "over one forward operation, or over all gradient operations of one",
    "step_into": "over one single operation, or into the loop that it is",
    "step_out": "to the end of the group or scope, or past the loop",
    "step_back": "back to where the step before began",
    "continue": "to the next breakpoint, or the end of the run; all threads, in turn",
    "reverse_continue": "back to the breakpoint before, or the start of the run",
    "run_to": "NODE: to just before it; RUN:STEP[/ITERATION:STEP]: exactly there, forward or back",
    "restart": "forget all runs",
    "break": "[gradient|scope|type|phase] NAME [if EXPRESSION]",
    "breakpoints": "all breakpoints by number",
    "delete": "N, or all",
    **VALUE_HELP,
    "where": "where the session stands",
    "list": "the steps around the current one; list all",
    "threads": "all threads, and what each waits for",
    "thread": "NAME: the moves are that thread's from now on",
    **SESSION_HELP,
    "help": "this",
    "quit": "leave",
}
