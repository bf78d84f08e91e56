"""The arguments that choose and bend optimizers for one training, as `--help` lists them."""

from __future__ import annotations

import argparse

from gradstep.core.cli.arguments import shared_arguments


def add_optimizer_choice(parser: argparse.ArgumentParser) -> None:
    """--optimizer."""
    parser.add_argument(
        "--optimizer",
        metavar="TYPE(…)",
        help="train by this one, in place of the document's own: Adam, 'Adam(learning_rate=0.01)', "
        "'GradientDescent(0.1)'; it minimizes what is differentiated",
    )


def add_minimized(parser: argparse.ArgumentParser) -> None:
    """--of, where nothing else is told of gradients."""
    shared_arguments.names(parser, "--of", "what --optimizer minimizes")


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
