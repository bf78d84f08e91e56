"""Say why a value or a gradient is NaN, infinite or zero, or why there is no gradient."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from gradstep.core.autodiff.reverse.gradient_paths import reached
from gradstep.core.checks.gradients.bottleneck_answers import find_bottlenecks
from gradstep.core.checks.why.why_answers import Explainer
from gradstep.core.cli.arguments.document_session import Loaded, load
from gradstep.core.cli.arguments.request_args import require_request
from gradstep.core.cli.injected import Answer, Application
from gradstep.core.cli.output.cut_text import bottleneck_text
from gradstep.core.cli.runs.first_run_values import asking, situation
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.stopped_state import Reason
from gradstep.core.document.document import CodeKind
from gradstep.core.document.requests import main_request
from gradstep.core.engine.backend import Backend
from gradstep.core.graph.model import TensorRef
from gradstep.core.host.session_restore import begin
from gradstep.core.program.derive import derive
from gradstep.core.program.gradient_context import situation_of
from gradstep.core.protocol.messages import Explanation

Explanations = dict[str, Explanation]


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """Without --wrt, an explanation for the value of each --of. For every --wrt, or those of the
    document, one for the gradient of the first --of that it leads to."""
    loaded = load(args)
    backend = app.devices().open_backend(args.device)
    request = main_request(loaded.document)
    values_only = bool(args.of) and not request.wrt
    if not values_only:
        request = require_request(loaded.document)
    explainer = _explainer(args, loaded, backend, request.of)
    values: Explanations = {}
    if not args.wrt:
        values = {y.short: explainer.value(str(y)) for y in request.of}
    ends = {ref: reached(loaded.document.graph, ref, request.of) for ref in request.wrt}
    gradients = {x.short: explainer.gradient(str(y), str(x)) for x, y in ends.items()}
    shown = [e for e in values.values() if args.of or e.state != "ok"]
    passing = {x.short: find_bottlenecks(explainer.here, str(y), str(x)) for x, y in ends.items()}
    objects = _objects(gradients)
    for name, one in passing.items():
        objects[name] |= {"passes": one.passes, "cut": one.cut}
    data: dict[str, object] = {"gradients": objects}
    if values:
        data["values"] = _objects(values)
    texts = [_text(e) + bottleneck_text(passing[name], e.path) for name, e in gradients.items()]
    return Answer(data, "\n".join([*map(_text, shown), *texts]))


def _explainer(
    args: argparse.Namespace, loaded: Loaded, backend: Backend, of: Sequence[TensorRef]
) -> Explainer:
    """Of the last run. Where only gradients of the first are asked for, each is run by itself."""
    functions = loaded.of_kind(CodeKind.PYFUNC)
    if args.wrt and args.runs == 1:
        return Explainer(situation(loaded, backend), functions, backend)
    session = _run(loaded, backend, of, args.runs)
    here = situation_of(session, loaded.of_kind(CodeKind.GRADIENT))
    here = asking(here, loaded.document, main_request(loaded.document))
    return Explainer(here, functions, backend, session, session.stop.run)


def _run(loaded: Loaded, backend: Backend, of: Sequence[TensorRef], runs: int) -> DebugSession:
    """So many runs of the document, or as many as there are before one fails; of a single one only
    what these tensors need."""
    program = derive(loaded.document, loaded.functions)
    if runs == 1:
        program = replace(program, fetches=tuple(of), targets=(), threads=())
    else:
        program = replace(program, fetches=tuple(dict.fromkeys((*program.fetches, *of))))
    threads = begin(program, backend)
    for _ in range(runs):
        stop = threads.command("continue_")
        if stop.reason in (Reason.EXCEPTION, Reason.BLOCKED):
            break
    return threads.session


def _objects(found: Explanations) -> dict[str, dict[str, object]]:
    return {name: msgspec.to_builtins(e) for name, e in found.items()}


def _text(found: Explanation) -> str:
    path = f"\n  path: {' → '.join(found.path)}" if found.path else ""
    index = "" if found.index is None else f", element {found.index}"
    place = f"\n  at:   {found.node}{index}" if found.node else ""
    return f"{found.text}{place}{path}"
