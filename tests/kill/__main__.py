"""`./dev kill`: end the program at random moments, and see that nothing of the user's is lost."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence

from tests.kill import engine, saves, window
from tests.kill.tally import Tally

# What is killed -> how, so many times, from a seed; and how often if nothing is said.
SUBJECTS: dict[str, tuple[Callable[[int, int, Callable[[str], None]], Tally], int]] = {
    "engine": (engine.campaign, 200),
    "saves": (saves.campaign, 200),
    "window": (window.campaign, 100),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """0: nothing was lost, nothing hung, no error inside; 1: something; 2: bad usage."""
    options = _parser().parse_args(arguments)
    campaign, usual = SUBJECTS[options.subject]
    found = campaign(options.times or usual, options.seed, _say)
    text = json.dumps(found.as_json()) if options.json else found.readable(options.subject)
    sys.stdout.write(text + "\n")
    return 0 if found.is_clean else 1


def _say(text: str) -> None:
    """Progress, on standard error."""
    sys.stderr.write(f"kill: {text}\n")
    sys.stderr.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev kill", description=__doc__)
    parser.add_argument("subject", choices=SUBJECTS, help="what is killed")
    parser.add_argument("--times", type=int, default=0, metavar="N", help="how often")
    parser.add_argument("--seed", type=int, default=1, help="of what is random")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    return parser


if __name__ == "__main__":
    sys.exit(main())
