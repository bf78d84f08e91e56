"""Say why a gradient is None, zero, NaN or infinite, and on which path."""

from __future__ import annotations

import argparse

import msgspec

from core.autodiff.walking import reached
from core.cli.asking import require_request
from core.cli.loading import load
from core.cli.ports import Answer, Application
from core.cli.situation import situation
from core.host.evaluator import Evaluator
from core.host.explaining import explanation
from core.host.messages import Explanation
from core.io.document import CodeKind


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """An explanation for every --wrt, of the first --of that it leads to."""
    loaded = load(args)
    request = require_request(loaded.document)
    here = situation(loaded, app.devices().open_backend(args.device))
    evaluate = Evaluator(loaded.of_kind(CodeKind.PYFUNC))
    ends = {ref: reached(loaded.document.graph, ref, request.of) for ref in request.wrt}
    found = {x.short: explanation(evaluate, here, str(y), str(x)) for x, y in ends.items()}
    objects = {name: msgspec.to_builtins(e) for name, e in found.items()}
    return Answer({"gradients": objects}, "\n".join(_text(e) for e in found.values()))


def _text(found: Explanation) -> str:
    path = f"\n  path: {' → '.join(found.path)}" if found.path else ""
    index = "" if found.index is None else f", element {found.index}"
    place = f"\n  at:   {found.node}{index}" if found.node else ""
    return f"{found.text}{place}{path}"
