"""Write down in a document what its runs give now; `gradstep check` holds them to it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gradstep.core.checks.expectations.expectation_capture import (
    add_expectations,
    capture_expectations,
)
from gradstep.core.checks.expectations.expectation_verdict import shown
from gradstep.core.cli.application_protocol import Answer, Application
from gradstep.core.cli.arguments.document_args import as_it_stands
from gradstep.core.cli.arguments.feed_args import read_feeds
from gradstep.core.cli.output.command_output import tensor_object, usage
from gradstep.core.cli.trust import pass_trust_on
from gradstep.core.document.document import Document
from gradstep.core.document.expectation import Expectation, ExpectationKind, Variation
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.io.formats.gradstep_document import SUFFIX, is_named_as_own
from gradstep.core.io.native import gradstep_file


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """Add the expectations, in the place of earlier ones about the same."""
    what = [*_tensors("x", args.value), *_tensors("grad", args.gradient), *args.that]
    if bool(what) == args.failure:
        raise usage("what to expect is missing", "write --value NAME, or --failure alone")
    out = args.out or args.file
    if not is_named_as_own(out):
        raise usage(f"only {SUFFIX} files hold expectations", f"write --out NAME{SUFFIX}")
    loaded, opener = as_it_stands(args), app.devices().open_backend
    when = _variation(loaded.document, args)
    found = capture_expectations(
        loaded.document, loaded.functions, opener, what, args.run - 1, when
    )
    document = add_expectations(loaded.document, found, args.text)
    gradstep_file.save(out, document)
    pass_trust_on(loaded.document, document, Path(out))
    data = {"written": out, "expectations": [_object(e) for e in found]}
    return Answer(data, "\n".join([*map(_said, found), f"wrote {out}"]))


def _tensors(table: str, names: Sequence[str]) -> list[str]:
    """`x["loss"]` for each name."""
    return [f'{table}["{TensorRef.parse(name).short}"]' for name in names]


def _variation(document: Document, args: argparse.Namespace) -> Variation:
    feeds = {str(ref): Constant(array) for ref, array in read_feeds(document.graph, args).items()}
    return Variation(feeds=feeds, device=args.device)


def _object(e: Expectation) -> dict[str, Any]:
    value = None if e.value is None else tensor_object(e.value.array)
    return {"what": e.what, "kind": e.kind.value, "run": e.run, "value": value, "error": e.error}


def _said(e: Expectation) -> str:
    """`x["loss"] in run 1: 5`, as `gradstep check` says it."""
    if e.kind is ExpectationKind.FAILS:
        return f"run {e.run + 1} fails: {e.error}: {e.message}"
    came = {ExpectationKind.NONE: "no gradient, or not computed", ExpectationKind.HOLDS: "holds"}
    value = came[e.kind] if e.value is None else shown(e.value.array)
    return f"{e.what} in run {e.run + 1}: {value}"
