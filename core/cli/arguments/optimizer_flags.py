"""The arguments that bend optimizers for one training, as the command line lists them."""

from __future__ import annotations

import argparse


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
