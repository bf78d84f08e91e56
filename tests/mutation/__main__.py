"""`./dev mutate`: break the code in many small ways, and see whether its tests notice."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.bench.environments import NotAvailableError, python_of
from tests.mutation import report, tree
from tests.mutation.areas import AREAS, Area
from tests.mutation.report import Measured
from tests.mutation.trial import Bench, BrokenError, Mutant

_EQUIVALENT = Path(__file__).with_name("equivalent.toml")


def main(arguments: Sequence[str] | None = None) -> int:
    """0: measured, whatever the share; 1: the tests do not run, or there is no Cosmic Ray; 2: bad
    usage."""
    options = _parser().parse_args(arguments)
    try:
        chosen = [_area(word) for word in options.area or AREAS]
        python = python_of("cosmic-ray", may_install=True)
        found = [_measured(area, python, options) for area in chosen]
    except LookupError as error:
        sys.stderr.write(f"mutate: {error.args[0]}\n")
        return 2
    except (NotAvailableError, BrokenError) as error:
        sys.stderr.write(f"mutate: {error}\n")
        return 1
    if options.json:
        sys.stdout.write(json.dumps([each.as_json() for each in found], ensure_ascii=False) + "\n")
    return 0


def _area(word: str) -> Area:
    """An area by name, or a module of one, by its path. Raises LookupError for neither."""
    if word in AREAS:
        return AREAS[word]
    for area in AREAS.values():
        if word in area.files(tree.ROOT):
            return Area(area.name, (word,), area.tests)
    raise LookupError(f"no area or module '{word}'; the areas are {', '.join(AREAS)}")


def _measured(area: Area, python: Path, options: argparse.Namespace) -> Measured:
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        root = Path(folder, "gradstep")  # as its own modules import it
        tree.copy(root, options.at)
        drawn = _drawn(python, root, area.files(root), options)
        mutants = [Mutant(**each) for each in drawn["mutants"]]
        with Bench(root, area.files(root), area.test_files(root)) as bench:
            _say(f"{area.name}: {len(mutants)} mutants; first the tests on the tree as it is")
            failing, seconds = bench.prepare()
            _say(f"{area.name}: the tests take {seconds:.0f} s of CPU time")
            outcomes = []
            for number, mutant in enumerate(mutants, 1):
                outcomes.append(bench.outcome(mutant))
                _say(f"{number}/{len(mutants)} {report.progress(outcomes[-1])}")
        done = tree.commit(options.at), options.seed, drawn["places"], drawn["left_out"]
        measured = Measured(area.name, *done, failing, outcomes)
    if not options.json:
        sys.stdout.write(report.readable(measured) + "\n")
        sys.stdout.flush()
    return measured


def _drawn(
    python: Path, root: Path, modules: list[str], options: argparse.Namespace
) -> dict[str, Any]:
    request = {
        "root": str(root),
        "modules": modules,
        "sample": options.sample,
        "seed": options.seed,
        "excused": tomllib.loads(_EQUIVALENT.read_text("utf-8")).get("mutant", []),
    }
    command = [python, "-m", "tests.mutation.draw"]
    text = json.dumps(request)
    done = subprocess.run(
        command, cwd=tree.ROOT, input=text, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BrokenError(f"no mutants could be drawn:\n{done.stderr[-2000:]}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _say(text: str) -> None:
    """Progress, on standard error."""
    sys.stderr.write(f"mutate: {text}\n")
    sys.stderr.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev mutate", description=__doc__)
    parser.add_argument("area", nargs="*", help=f"{', '.join(AREAS)}, or the path of a module")
    parser.add_argument("--sample", type=int, default=100, metavar="N", help="of an area; 0: all")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--at", default="", metavar="COMMIT", help="another tree, its own tests")
    parser.add_argument("--json", action="store_true", help="one JSON array")
    return parser


if __name__ == "__main__":
    sys.exit(main())
