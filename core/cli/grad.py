"""Compute gradients, with overrides and stops, and check them against finite differences."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from gradstep.core.autodiff.check.gradcheck import Check, check_gradients
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.checks.gradients.gradient_variants import compare_variants
from gradstep.core.checks.gradients.graph_evaluator import Evaluator
from gradstep.core.checks.gradients.requested_gradients import (
    Gradients,
    Rows,
    derive_requested,
    gradient_values,
)
from gradstep.core.cli.application_protocol import Answer, Application
from gradstep.core.cli.arguments import shared_arguments
from gradstep.core.cli.arguments.chosen_devices import open_devices
from gradstep.core.cli.arguments.document_args import load
from gradstep.core.cli.arguments.request_args import require_request
from gradstep.core.cli.output.command_output import kernel_lines, table, tensor_object, tensor_text
from gradstep.core.cli.output.problem_json import problem_object
from gradstep.core.cli.output.variant_text import variants_object, variants_text
from gradstep.core.debug.history.frozen_program import name_of
from gradstep.core.document.document import CodeKind
from gradstep.core.document.requests import every_request
from gradstep.core.engine.backend import Backend
from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.problems import Problem, problem_text
from gradstep.core.program.questions.first_run_values import situation
from gradstep.core.program.questions.loaded_document import Loaded, start
from gradstep.core.program.recorded_remarks import recorded_remarks
from gradstep.core.program.unused_overrides import find_unmatched, find_unregistered
from gradstep.core.protocol.messages import GradientVariants

_MEASURED = 1024  # elements of all gradients that --what-if measures by differences


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """The gradient of every --wrt; null (None) where there is none, which is not zero."""
    loaded = load(args)
    request = require_request(loaded.document)
    backend = open_devices(args, app.devices(), loaded.document)
    kernels = shared_arguments.chosen_kernels(args)
    derived = derive_requested(loaded, request)
    session = start(loaded, derived.graph, backend, loaded.initial(), kernels=kernels)
    found, rows = gradient_values(loaded, request, derived, session)
    own = derived if derived.imported else None
    check = _check(loaded, request, backend) if args.check else None
    variants = _variants(loaded, backend) if args.what_if else None
    data: dict[str, object] = {
        "gradients": {ref.short: tensor_object(value) for ref, value in found.items()}
    }
    if rows:
        data["indexed_slices"] = {
            ref.short: {"values": tensor_object(v), "indices": tensor_object(i)}
            for ref, (v, i) in rows.items()
        }
    if check is not None:
        data["numeric"] = {r.short: tensor_object(n.value) for r, n in check.numeric.items()}
        data["agrees"] = {r.short: bool(check.agrees(r).all()) for r in check.numeric}
    if variants is not None:
        data["what_if"] = variants_object(variants)
    if kernels:
        data["kernels"] = session.computed_by
    doubts = [] if own is not None else _doubts(loaded, request)
    asked = {ref.op for ref in request.wrt}
    doubts += [p for p in recorded_remarks(loaded.document) if p.node in asked]
    if doubts:
        data["problems"] = [problem_object(p) for p in doubts]
    said = [problem_text(p) for p in doubts]
    others = [] if args.of else [each.of for each in every_request(loaded.document)]
    notes = [_also(of) for of in others if of != request.of]
    notes += [f"as the graph itself makes them, in {own.imported}/"] if own is not None else []
    text = _text(found, rows, check, request, backend)
    text += "" if variants is None else f"\n{variants_text(variants)}"
    return Answer(data, "\n".join([*said, text, *notes, *kernel_lines(session.computed_by)]))


def _also(of: Sequence[TensorRef]) -> str:
    """Another thing that the document differentiates."""
    return f"the document differentiates {name_of(of)}, too: --of {' '.join(r.short for r in of)}"


def _doubts(loaded: Loaded, request: GradientRequest) -> list[Problem]:
    """Overrides that match nothing, and gradients that nothing is called as."""
    document, rules = loaded.document, loaded.of_kind(CodeKind.GRADIENT)
    return [*find_unmatched(document.graph, request.overrides), *find_unregistered(document, rules)]


def _check(loaded: Loaded, request: GradientRequest, backend: Backend) -> Check:
    here = situation(loaded, backend)
    evaluate = Evaluator(loaded.of_kind(CodeKind.PYFUNC))
    own = None if here.imported is None else here.imported.gradients
    given, functions = here.given, here.functions
    return check_gradients(evaluate, here.differentiated, request, given, functions, held=own)


def _variants(loaded: Loaded, backend: Backend) -> GradientVariants:
    evaluate = Evaluator(loaded.of_kind(CodeKind.PYFUNC))
    return compare_variants(evaluate, [situation(loaded, backend)], _MEASURED)


def _text(
    found: Gradients, slices: Rows, check: Check | None, request: GradientRequest, backend: Backend
) -> str:
    of = name_of(request.of)
    rows = [[f"d {of} / d {ref.short}", tensor_text(value)] for ref, value in found.items()]
    if check is not None:
        for row, ref in zip(rows, found, strict=True):
            if ref in check.numeric:
                row.append(f"numeric {tensor_text(check.numeric[ref].value)}")
                row.append("agrees" if check.agrees(ref).all() else "DIFFERS")
    note = [
        f"{ref.short}: IndexedSlices, rows {indices.tolist()} of {len(whole)}"
        for ref, (_, indices) in slices.items()
        if (whole := found[ref]) is not None
    ]
    note += [] if backend.measured else [f"emulated: {backend.source}"]
    return "\n".join([table(rows), *note])
