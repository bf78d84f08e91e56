"""The console's commands that ask why, try what may mend it, and take it on a branch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gradstep.core.cli.console.console_command import ConsoleCommand, Reply
from gradstep.core.cli.console.move_commands import needs
from gradstep.core.cli.output.trial_table import trial_text
from gradstep.core.debug.history.program_tensors import find_tensor
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.host.edit_trials import source_of, try_remedy
from gradstep.core.host.explained_runs import explanation_text
from gradstep.core.host.offered_edits import choose_edit, edits_of, explain_here
from gradstep.core.protocol.messages import Explanation, ManageBranches, RemedyInfo, TryEdit

if TYPE_CHECKING:
    from gradstep.core.cli.console.console import Console

_OF = " of "


def why(console: Console, rest: str) -> Reply:
    """`why NAME`: its value; `why grad NAME [of LOSS]`: the gradient with respect to it."""
    if not rest:
        raise needs("why", "a tensor: why loss, why grad w, why grad w of loss")
    found, _, _ = explained(console, rest)
    console.sessions.question, console.sessions.offered = rest, edits_of(found)
    fixes = [f"{number}  {one.label}" for number, one in enumerate(found.remedies, 1)]
    more = ["try 1 shows what one does, take 1 makes it on a branch:", *fixes] if fixes else []
    return Reply("\n".join([explanation_text(found), *more]), msgspec.to_builtins(found))


def try_fix(console: Console, rest: str) -> Reply:
    """`try N`: what the run would be with edit N of the last `why`."""
    remedy, of, wrt = _chosen(console, rest, "try")
    request = TryEdit(kind=remedy.kind, names=remedy.names, of=of, wrt=[wrt] if wrt else [])
    tried = try_remedy(console.session, source_of(console.session).document, request)
    return Reply(trial_text(tried), msgspec.to_builtins(tried))


def take_fix(console: Console, rest: str) -> Reply:
    """`take N`: edit N of the last `why`, from this run on, on a branch."""
    remedy, _, _ = _chosen(console, rest, "take")
    request = ManageBranches(command="edit", kind=remedy.kind, edited=remedy.names)
    return console.acts.branch(request, console.where)


def _chosen(console: Console, rest: str, command: str) -> tuple[RemedyInfo, str, str]:
    asked, listed = console.sessions.question, console.sessions.offered
    if not asked or not rest.isdecimal():
        raise needs(command, f"a `why`, and the number of an edit that it named: {command} 1")
    found, of, wrt = explained(console, asked)
    return choose_edit(found, listed, int(rest[:9]), asked), of, wrt


def explained(console: Console, asked: str) -> tuple[Explanation, str, str]:
    """The answer, and what it is about: a value, or a gradient with respect to the second."""
    word, _, name = asked.partition(" ")
    is_gradient = word in ("grad", "gradient") and bool(name)
    wrt, _, loss = (name if is_gradient else asked).partition(_OF)
    ref = find_tensor(console.session.program, wrt.strip())
    of = _loss(console, loss.strip(), ref) if is_gradient else ref.short
    wrt = ref.short if is_gradient else ""
    return explain_here(console.session, of, wrt), of, wrt


def _loss(console: Console, named: str, ref: TensorRef) -> str:
    """The one that is named, or the first that has a gradient of the tensor, or the first."""
    if named:
        return find_tensor(console.session.program, named).short
    program = console.session.program
    reached = [one.of[0] for one in program.derived if ref in one.gradients and one.of]
    losses = [*reached, *(one.of[0] for one in program.derived if one.of), *program.request.of]
    if not losses:
        raise GradstepError(
            "nothing is differentiated", kind="ValueError", hint="name it: why grad w of loss"
        )
    return losses[0].short


WHY_COMMANDS = (
    ConsoleCommand(
        "why", why, "NAME, grad NAME [of LOSS]: why it is NaN, infinite, zero or None, and fixes"
    ),
    ConsoleCommand("try", try_fix, "N: what fix N of the last why does to loss and gradient"),
    ConsoleCommand("take", take_fix, "N: fix N of the last why, on a branch"),
)
