"""`./dev soak`: use the program at random for as long as one likes, and see whether it holds."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence

from tests.soak.walk import LENGTH

_FOLDERS = ("CONFIG", "DATA", "STATE", "CACHE", "RUNTIME")


def main(arguments: Sequence[str] | None = None) -> int:
    """0: all held; 1: something broke; 2: bad usage."""
    options = _parser().parse_args(arguments)
    only = [int(word) for word in options.only.split(",")] if options.only else None
    with tempfile.TemporaryDirectory(prefix="soak-home-") as home:
        if __name__ == "__main__":  # nothing of the user's is read or written
            _move_to(home)
        from tests.soak.campaign import Campaign, summary

        campaign = Campaign(options.window, _say, options.shrink)
        try:
            campaign.run(options.seed, 60 * options.minutes, options.until, only)
        except KeyboardInterrupt:
            _say("interrupted; the figures are of what was done")
    found = campaign.as_json()
    text = json.dumps(found, ensure_ascii=False) if options.json else summary(found)
    sys.stdout.write(f"{text}\n")
    return 1 if found["broken"] else 0


def _move_to(home: str) -> None:
    """Let settings, trust and logs be in another place, for engine processes, too."""
    for name in _FOLDERS:
        folder = os.path.join(home, name.lower())
        os.makedirs(folder, mode=0o700)
        os.environ[f"XDG_{name}_{'DIR' if name == 'RUNTIME' else 'HOME'}"] = folder


def _say(text: str) -> None:
    """A finding or progress, on standard error."""
    sys.stderr.write(f"soak: {text}\n")
    sys.stderr.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the first walk")
    parser.add_argument("--window", action="store_true", help="through the real window")
    parser.add_argument(
        "--until", type=int, default=LENGTH, metavar="N", help="one walk, up to this move"
    )
    parser.add_argument("--only", default="", metavar="N,N", help="one walk, of these moves alone")
    parser.add_argument(
        "--no-shrink",
        dest="shrink",
        action="store_false",
        help="leave findings as long as they are",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")
    return parser


if __name__ == "__main__":
    sys.exit(main())
