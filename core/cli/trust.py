"""Documents whose Python may run, as the user decided: list them, or revoke that."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import msgspec

from gradstep.core.cli.application_protocol import Answer, Application
from gradstep.core.cli.output.command_output import table, usage, warn
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.program.trust import code_trust
from gradstep.core.program.trust.trust_store import Decision

DIGITS = 12  # of a fingerprint, in a list
_LEAST = 4  # digits that name a program
NOTHING = "no document's Python may run, but that of the examples"
_HEADER = ("program", "may", "decided", "used", "functions", "document")


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """List the decisions, or revoke some. A damaged list is said on standard error."""
    damage = code_trust.set_aside_damage()
    if damage is not None:
        warn(damage)
    return _list(args) if args.what == "list" else _revoke(args)


def pass_trust_on(before: Document, after: Document, path: Path) -> None:
    """A command wrote `after` to a file: what the user decided about `before` goes on. That it does
    not is no failure of the command."""
    try:
        code_trust.pass_on(before, after, str(path.absolute()))
    except GradstepError as error:
        warn(error)


def _list(args: argparse.Namespace) -> Answer:
    if args.programs or args.all:
        raise usage("trust list takes no program", "write trust revoke PROGRAM")
    found, aside = code_trust.decisions(), [str(path) for path in code_trust.store().damaged()]
    data = {"decisions": [msgspec.to_builtins(d) for d in found], "set_aside": aside}
    lines = [table([_row(d) for d in found], _HEADER) if found else NOTHING]
    lines += [f"set aside, as it was damaged: {path}" for path in aside]
    return Answer(data, "\n".join(lines))


def _row(decision: Decision) -> tuple[str, ...]:
    named = ", ".join(decision.functions)
    made, used = (day.partition("T")[0] for day in (decision.decided, decision.used))
    program = decision.fingerprint[:DIGITS]
    return program, decision.permission.value, made, used, named, decision.place or decision.title


def _revoke(args: argparse.Namespace) -> Answer:
    if bool(args.programs) == args.all:
        raise usage("what to revoke is missing", "write PROGRAM as trust list does, or --all")
    known = code_trust.decisions()
    chosen = known if args.all else [d for name in args.programs for d in _named(name, known)]
    code_trust.revoke(d.fingerprint for d in chosen)
    numbers = list(dict.fromkeys(d.fingerprint for d in chosen))
    text = "\n".join(f"revoked {d.fingerprint[:DIGITS]}  {d.place or d.title}" for d in chosen)
    return Answer({"revoked": numbers}, text or NOTHING)


def _named(name: str, known: Sequence[Decision]) -> list[Decision]:
    """The decisions that `name` means. Raises GradstepError (UsageError) for none, and for the
    beginning of several numbers."""
    there = [d for d in known if d.place in (name, str(Path(name).absolute()))]
    if there:
        return there
    found = [d for d in known if len(name) >= _LEAST and d.fingerprint.startswith(name.lower())]
    if not found:
        raise usage(f"nothing was decided about '{name}'", "gradstep trust list shows what was")
    if len(found) > 1:
        raise usage(f"'{name}' begins {len(found)} numbers", "write more digits")
    return found
