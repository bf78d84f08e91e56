"""By which optimizer this training goes, and how it is bent: schedule, clipping, weight decay."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from gradstep.core.cli.arguments.shared_arguments import require_with
from gradstep.core.cli.output.command_output import usage
from gradstep.core.document.document import Document
from gradstep.core.document.optimizer_labels import optimizer_labels
from gradstep.core.errors import GradstepError
from gradstep.core.program.questions.chosen_optimizer import train_by
from gradstep.core.train.optimizer_text import read_optimizer
from gradstep.core.train.training_settings import read_settings


def with_optimizer(document: Document, args: argparse.Namespace) -> Document:
    """The document with the optimizer of --optimizer, if that is given, in place of its own, which
    is said once. Raises GradstepError (UsageError) for what cannot be read, and where nothing is
    minimized."""
    if getattr(args, "optimizer", None) is None:
        if hasattr(args, "optimizer") and not hasattr(args, "wrt"):
            require_with(args, "--optimizer", ["of"], "say --optimizer Adam")
        return document
    of = () if hasattr(args, "wrt") else args.of  # --of is in the document's request there
    try:
        chosen = train_by(document, *read_optimizer(args.optimizer), of)
    except GradstepError as error:
        if error.kind == "ValueError":
            raise usage(error.message, error.hint) from None
        raise
    _say_replaced(document, args)
    return chosen


def _say_replaced(document: Document, args: argparse.Namespace) -> None:
    if not document.optimizers or vars(args).setdefault("said_replaced", False):
        return
    args.said_replaced = True
    own = zip(optimizer_labels(document), document.optimizers, strict=True)
    named = ", ".join(f"{label} ({optimizer.type})" for label, optimizer in own)
    print(f"gradstep: --optimizer takes the place of the document's own: {named}", file=sys.stderr)


def with_settings(document: Document, args: argparse.Namespace) -> Document:
    """The document with what is asked for in all of its optimizers. Raises GradstepError for what
    cannot be read, and where there is no optimizer."""
    asked = {"schedule": args.schedule, "clip": args.clip, "decay": args.weight_decay}
    given = {name: text for name, text in asked.items() if text is not None}
    if not given:
        return document
    read_settings(**given)
    if not document.optimizers:
        raise usage(
            "the document has no optimizer that --schedule, --clip or --weight-decay could bend",
            "give it one: --optimizer Adam, or in the window Graph > Optimizers",
        )
    bent = tuple(replace(optimizer, **given) for optimizer in document.optimizers)
    return replace(document, optimizers=bent)
