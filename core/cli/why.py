"""Say why a gradient is None, zero, NaN or infinite, and on which path."""

from __future__ import annotations

import argparse

import msgspec

from core.cli import arguments
from core.cli.loading import load, require_request
from core.cli.ports import Answer, Application
from core.cli.situation import situation
from core.host.evaluator import Evaluator
from core.host.explaining import explanation
from core.host.messages import Explanation
from core.io.document import CodeKind


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gradstep why`."""
    arguments.document(parser)
    arguments.gradients(parser)
    arguments.running(parser)


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """An explanation for every --wrt."""
    loaded = load(args)
    request = require_request(loaded.document)
    here = situation(loaded, app.devices().open_backend(args.device))
    evaluate = Evaluator(loaded.of_kind(CodeKind.PYFUNC))
    found = {
        ref.short: explanation(evaluate, here, str(request.of[0]), str(ref)) for ref in request.wrt
    }
    objects = {name: msgspec.to_builtins(e) for name, e in found.items()}
    return Answer({"gradients": objects}, "\n".join(_text(e) for e in found.values()))


def _text(found: Explanation) -> str:
    path = f"\n  path: {' → '.join(found.path)}" if found.path else ""
    index = "" if found.index is None else f", element {found.index}"
    place = f"\n  at:   {found.node}{index}" if found.node else ""
    return f"{found.text}{place}{path}"
