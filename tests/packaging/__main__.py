"""`./dev package`: build what is distributed, look into it, install it in every way into places of
their own, and use it there."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.packaging import distributions, native_wheel
from tests.packaging.findings import Findings, expect
from tests.packaging.hidden_checkout import without
from tests.packaging.places import WAYS, Installed, Sources, clean_environment
from tests.packaging.proof import Proof


def main(arguments: Sequence[str] | None = None) -> int:
    """0: all of it works; 1: something does not; 2: bad usage."""
    options = _parser().parse_args(arguments)
    findings = Findings(_say)
    with tempfile.TemporaryDirectory(prefix="gradstep-package-") as folder:
        prove(findings, Path(folder).resolve(), options.ways or list(WAYS))
    if options.json:
        sys.stdout.write(json.dumps(findings.as_json()) + "\n")
    return 0 if findings.is_clean else 1


def prove(findings: Findings, folder: Path, ways: Sequence[str]) -> None:
    """Into `findings`. folder: empty, for all that is made."""
    environment = clean_environment()
    uv, out = os.environ["GRADSTEP_UV"], folder / "dist"
    out.mkdir()
    tree = distributions.copy_tree(folder / "source")
    version = distributions.version_of(tree)
    built: list[Path] = []

    def build() -> str:
        built.extend(distributions.build(uv, tree, out, environment))
        return ", ".join(path.name for path in built)

    if not findings.check("build", build):
        return
    source, wheel = built
    findings.check("source distribution", lambda: distributions.check_source(source, tree))
    findings.check("contents of the wheel", lambda: distributions.check_wheel(wheel, tree))
    distributions.leave_an_older_build(tree)
    before = without([distributions.ROOT, tree])
    if not before:
        findings.skip("without a checkout", "folders can be hidden by the administrator of a Linux")
    for way in ways:
        place = folder / way
        place.mkdir()
        installed: list[Installed] = []

        def install(way: str = way, place: Path = place, into: list[Installed] = installed) -> str:
            into.append(WAYS[way](Sources(uv, tree, wheel), place, environment))
            expect(into[0].command.is_file(), f"there is no {into[0].command}")
            return into[0].command.name

        if findings.check(f"{way}: install", install):
            proof = Proof(way, installed[0], place, version, before)
            proof.into(findings)
            if way == "wheel":
                _prove_native(findings, uv, tree, proof)


def _prove_native(findings: Findings, uv: str, tree: Path, proof: Proof) -> None:
    """The extension that plans may run faster with, beside what is installed."""
    name = "native: wheel"
    if why_not := native_wheel.why_not():
        findings.skip(name, why_not)
        return
    built: list[Path] = []

    def build() -> str:
        out = proof.work / "native"
        built.append(native_wheel.build(uv, tree, out, proof.environment))
        return built[0].name

    if findings.check(name, build):
        findings.check(f"{proof.way}: native", lambda: native_wheel.use(uv, built[0], proof))


def _say(text: str) -> None:
    """A line for each check, on standard error."""
    sys.stderr.write(f"package: {text}\n")
    sys.stderr.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev package", description=__doc__)
    named = f"{', '.join(WAYS)}; all, if none is named"
    parser.add_argument("ways", nargs="*", type=_way, metavar="WAY", help=named)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    return parser


def _way(word: str) -> str:
    if word not in WAYS:
        raise argparse.ArgumentTypeError(f"{word} is none of {', '.join(WAYS)}")
    return word


if __name__ == "__main__":
    sys.exit(main())
