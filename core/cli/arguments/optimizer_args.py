"""How the document's optimizers are bent for this training: schedule, clipping, weight decay."""

from __future__ import annotations

import argparse
from dataclasses import replace

from gradstep.core.cli.output.command_output import usage
from gradstep.core.document.document import Document
from gradstep.core.train.training_settings import read_settings


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
            "give it one: Graph > Optimizers",
        )
    bent = tuple(replace(optimizer, **given) for optimizer in document.optimizers)
    return replace(document, optimizers=bent)
