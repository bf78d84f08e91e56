"""./dev traces: every recorded trace opened, run, differentiated, and held against its framework."""

from __future__ import annotations

import argparse
import json
import sys

from tests.traces.trace_archive import traces
from tests.traces.trace_verdicts import judge


def main() -> int:
    """0 if all agree."""
    parser = argparse.ArgumentParser(prog="./dev traces", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="these alone")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args()
    found = []
    for path in sorted(traces().glob("*.gstrace")):
        if args.names and path.stem not in args.names:
            continue
        verdict = judge(path)
        found.append(verdict)
        if not args.json:
            state = "ok" if verdict.ok else "DIFFERS"
            print(
                f"{verdict.name:22} {verdict.values:4} values {verdict.gradients:4} gradients  "
                f"worst {verdict.worst:.1e}  {state}  {'; '.join(verdict.off[-6:])}"
                f"{'  unlowered: ' + ', '.join(verdict.unlowered) if verdict.unlowered else ''}"
            )
    if args.json:
        keys = ("name", "values", "gradients", "worst", "one_sided", "ok")
        models = [{key: getattr(verdict, key) for key in keys} for verdict in found]
        print(json.dumps({"models": models}))
    return 0 if found and all(verdict.ok for verdict in found) else 1


if __name__ == "__main__":
    sys.exit(main())
