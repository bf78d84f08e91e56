"""Arguments about data that is fed in batches."""

from __future__ import annotations

import argparse

from gradstep.core.cli.arguments.shared_arguments import positive, whole

BATCH = 32  # rows of a step where nobody says how many, as `gradstep.core.document.dataset` has it


def add_data_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare them; `data_args` reads them."""
    parser.add_argument(
        "--data", metavar="NAME=ROWS", action="extend", nargs="+", default=[],
        help="rows for a placeholder, fed in batches: as --feed has values, then, after |, "
        "scale(factor), one_hot(classes), standardise, crop(height, width) or flip(); "
        "@digits:images, @spirals:x, @circles:x, @xor:x, @jabberwocky:x and @line:x come with "
        "Gradstep",
    )  # fmt: skip
    count = parser.add_argument
    count("--batch", metavar="N", type=positive, help=f"rows of a step ({BATCH})")
    count("--epochs", metavar="N", type=positive, help="train on all rows so often")
    count("--limit", metavar="N", type=positive, help="take the first N rows of --data alone")
    count(
        "--shuffle", metavar="SEED", type=whole,
        help="take the rows of each epoch in an order of its own, the same for the same seed",
    )  # fmt: skip
    count("--drop-last", action="store_true", help="leave out rows that are less than a batch")
    count(
        "--validate", metavar="SHARE", type=_share,
        help="hold back this share of the rows (0.2), and show their loss after each epoch",
    )  # fmt: skip
    count(
        "--test", metavar="SHARE", type=_share,
        help="hold back this share besides, and show the loss over it at the end",
    )  # fmt: skip


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no share: write one such as 0.2")
    return share
