"""How the document's optimizers are bent for this training: schedule, clipping, weight decay."""

from __future__ import annotations

import argparse
from dataclasses import replace

from gradstep.core.cli.output.command_output import usage
from gradstep.core.document.document import Document
from gradstep.core.train.training_settings import read_settings


def add_optimizer_arguments(parser: argparse.ArgumentParser) -> None:
    """--schedule, --clip, --weight-decay."""
    parser.add_argument(
        "--schedule",
        metavar="TEXT",
        help="how the learning rate goes on, in place of what the document's optimizers say: "
        "'exponential_decay(1000, 0.96)', 'warmup(100) * cosine_decay(10000)', "
        "'piecewise_constant([1000], [0.1, 0.01])'; '' for a constant one",
    )
    parser.add_argument(
        "--clip", metavar="TEXT", help="clip gradients: 'global_norm(1)', 'norm(1)', 'value(0.1)'"
    )
    parser.add_argument(
        "--weight-decay",
        metavar="TEXT",
        help="'l2(1e-4)', which adds to gradients, or 'decoupled(0.01)', beside the update",
    )


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
