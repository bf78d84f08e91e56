"""Say why a value or a gradient is NaN, infinite or zero, or why there is no gradient."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from gradstep.core.autodiff.explain.gradient_paths import find_reached
from gradstep.core.checks.gradients.bottleneck_answers import find_bottlenecks
from gradstep.core.checks.why.why_answers import Explainer
from gradstep.core.cli.application_protocol import Answer, Application
from gradstep.core.cli.arguments.chosen_devices import open_devices
from gradstep.core.cli.arguments.document_args import load
from gradstep.core.cli.arguments.request_args import require_request
from gradstep.core.cli.output.bottleneck_text import bottleneck_text
from gradstep.core.cli.output.left_out_remark import remark
from gradstep.core.cli.output.problem_json import problem_object
from gradstep.core.cli.output.said_problems import say_problems
from gradstep.core.cli.output.source_text import source_line
from gradstep.core.cli.output.trial_table import trial_text
from gradstep.core.cli.output.why_text import gradient_texts
from gradstep.core.cli.runs.smallest_file import write_smallest
from gradstep.core.data.first_batch import write_exported
from gradstep.core.document.document import CodeKind, Document
from gradstep.core.document.named_edits import edit_by_name
from gradstep.core.document.requests import main_request
from gradstep.core.engine.backend import Backend
from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.problems import problem_text
from gradstep.core.host.edit_trials import try_remedy, with_remedies
from gradstep.core.host.explained_runs import explainer_of_runs, explanation_text
from gradstep.core.host.reductions import reduced
from gradstep.core.host.whole_runs import make_runs
from gradstep.core.program.derive import derive
from gradstep.core.program.questions.first_run_values import situation
from gradstep.core.program.questions.loaded_document import Loaded
from gradstep.core.program.questions.program_errors import find_errors
from gradstep.core.program.recorded_remarks import recorded_remarks
from gradstep.core.protocol.messages import Bottlenecks, Explanation, RemedyInfo, Tried, TryEdit


class _Fix(NamedTuple):
    """An edit that was tried. taken: it is the one that the document is written with."""

    remedy: RemedyInfo
    tried: Tried
    taken: bool

    @property
    def object(self) -> dict[str, object]:
        """As JSON has it."""
        said = msgspec.to_builtins(self.tried)
        return {**said, "kind": self.remedy.kind, "names": self.remedy.names, "taken": self.taken}


Explanations = dict[str, Explanation]
Asked = tuple[Explanation, TensorRef, TensorRef | None]
Edit = tuple[str, tuple[str, ...]]


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """Without --wrt, an explanation for the value of each --of. For every --wrt, or those of the
    document, one for the gradient of the first --of that it leads to."""
    loaded = load(args)
    backend = open_devices(args, app.devices(), loaded.document)
    request = main_request(loaded.document)
    values_only = bool(args.of) and not request.wrt
    if not values_only:
        request = require_request(loaded.document)
    explainer = _explainer(args, loaded, backend, request.of)
    values: Explanations = {}
    if not args.wrt:
        values = {y.short: explainer.value(str(y)) for y in request.of}
    ends = {ref: find_reached(loaded.document.graph, ref, request.of) for ref in request.wrt}
    gradients = {x.short: explainer.gradient(str(y), str(x)) for x, y in ends.items()}
    shown = [e for e in values.values() if args.of or e.state != "ok"]
    passing = {x.short: find_bottlenecks(explainer.here, str(y), str(x)) for x, y in ends.items()}
    document = loaded.document
    objects = _objects(gradients, document)
    for name, one in passing.items():
        objects[name] |= {"passes": one.passes, "cut": one.cut}
    data: dict[str, object] = {"gradients": objects}
    if values:
        data["values"] = _objects(values, document)
    said = [explanation_text(e, source_line(document, e.node)) for e in shown]
    texts = _gradient_texts(args, gradients, passing, document)
    doubts = [p for p in recorded_remarks(document) if any(p.node == x.op for x in ends)]
    if doubts:
        data["problems"] = [problem_object(p) for p in doubts]
    texts = [*map(problem_text, doubts), *said, *texts]
    if args.fix or args.take:
        wrong = [each for each in _asked(values, gradients, ends) if each[0].state != "ok"]
        tried, document = _tried(loaded, backend, wrong, args.runs)
        data["fixes"] = [each.object for each in tried]
        texts += _fix_texts(tried, bool(wrong))
        if args.take:
            remark(args.take, write_exported(args.take, document, app.picture, args.memory))
            taken = dict.fromkeys(each.tried.label for each in tried if each.taken)
            texts.append(f"{args.take}: {'; '.join(taken) or 'as it was, nothing mends it'}")
    if args.reduce:
        find = partial(_reduced, args, loaded, backend, values, gradients, ends)
        data["reduced"], said_of_it = write_smallest(args.reduce, find, app.picture)
        texts.append(said_of_it)
    return Answer(data, "\n".join(texts))


def _gradient_texts(
    args: argparse.Namespace,
    gradients: Explanations,
    passing: Mapping[str, Bottlenecks],
    document: Document,
) -> list[str]:
    """Of those that --wrt names each in full."""

    def told(name: str, e: Explanation) -> str:
        said = explanation_text(e, source_line(document, e.node))
        return said + bottleneck_text(passing[name], e.path)

    if args.wrt:
        return [told(name, e) for name, e in gradients.items()]
    return [*gradient_texts(gradients, told)]


def _fix_texts(tried: Sequence[_Fix], is_wrong: bool) -> list[str]:
    if not tried:
        return [f"fix: {'none is known' if is_wrong else 'nothing is to be mended'}"]
    return [f"fix: {trial_text(each.tried)}" for each in tried]


def _reduced(
    args: argparse.Namespace,
    loaded: Loaded,
    backend: Backend,
    values: Explanations,
    gradients: Explanations,
    ends: Mapping[TensorRef, TensorRef],
) -> Document:
    """Of the first value or gradient that is wrong."""
    asked = _asked(values, gradients, ends)
    wrong = (each for each in asked if each[0].state != "ok")
    found, of, wrt = next(wrong, asked[0])
    return reduced(loaded, backend, found, of, wrt, args.runs)


def _asked(
    values: Explanations, gradients: Explanations, ends: Mapping[TensorRef, TensorRef]
) -> list[Asked]:
    asked: list[Asked] = [(e, TensorRef.parse(name), None) for name, e in values.items()]
    return [*asked, *((gradients[x.short], y, x) for x, y in ends.items())]


def _tried(
    loaded: Loaded, backend: Backend, asked: Sequence[Asked], runs: int
) -> tuple[list[_Fix], Document]:
    """What each edit would do that may mend one of them; and the document with the first of each
    that does, once those before it are made."""
    found, document, taken = list[_Fix](), loaded.document, set[Edit]()
    session = make_runs(derive(loaded.document, loaded.functions), backend, runs)
    for explanation, of, wrt in asked:
        mended = False
        for one in with_remedies(loaded.document, explanation).remedies:
            edit = one.kind, (*one.names,)
            names = [] if wrt is None else [str(wrt)]
            request = TryEdit(kind=one.kind, names=one.names, of=str(of), wrt=names)
            tried = try_remedy(session, loaded.document, request)
            takes = tried.mends and not mended
            if takes and edit not in taken:
                document = edit_by_name(document, *edit)
                taken.add(edit)
            mended = mended or takes
            found.append(_Fix(one, tried, takes))
    return found, document


def _explainer(
    args: argparse.Namespace, loaded: Loaded, backend: Backend, of: Sequence[TensorRef]
) -> Explainer:
    """Of the last run. Where only gradients of the first are asked for, each is run by itself."""
    if args.wrt and args.runs == 1:
        functions = loaded.of_kind(CodeKind.PYFUNC)
        return Explainer(situation(loaded, backend), functions, backend)
    program = derive(loaded.document, loaded.functions)
    say_problems(find_errors(program))
    return explainer_of_runs(loaded, program, backend, of, args.runs)


def _objects(found: Explanations, document: Document) -> dict[str, dict[str, object]]:
    """As JSON has them, with the line of source where there is one."""
    objects = {name: msgspec.to_builtins(e) for name, e in found.items()}
    for name, e in found.items():
        if source := source_line(document, e.node):
            objects[name]["source"] = source
    return objects
