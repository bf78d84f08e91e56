"""Ask of all runs of a document at which steps an expression holds, or who wrote a variable."""

from __future__ import annotations

import argparse

from gradstep.core.cli.application_protocol import Answer, Application
from gradstep.core.cli.arguments.chosen_devices import open_devices
from gradstep.core.cli.arguments.document_args import load
from gradstep.core.cli.output.command_output import error_object, usage
from gradstep.core.cli.output.query_text import query_object, query_text
from gradstep.core.cli.output.said_problems import say_problems
from gradstep.core.debug.breaks.expression_names import find_mentions, written_by_name
from gradstep.core.errors import error_text
from gradstep.core.host.query_answers import find_moments
from gradstep.core.host.whole_runs import make_runs
from gradstep.core.program.derive import derive
from gradstep.core.program.questions.program_errors import find_errors
from gradstep.core.program.runnable_part import drop_unfinished, find_unfed
from gradstep.core.protocol.messages import FindMoments
from gradstep.core.protocol.vocabulary import WhichMoment


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """The answers after --runs, as of their end; a run that fails is the last one."""
    request = _request(args)
    loaded = load(args)
    program = drop_unfinished(derive(loaded.document, loaded.functions))
    say_problems(find_errors(program))
    mentioned = [
        program.gradients.get(ref, ref) if table == "grad" else ref
        for table, ref in find_mentions(request.text)
    ]
    if mentioned and (unfed := find_unfed(program, mentioned)) is not None:
        raise unfed  # it would be found nowhere, as it is computed nowhere
    session = make_runs(program, open_devices(args, app.devices(), loaded.document), args.runs)
    found = find_moments(session, request)
    data, texts, failed = query_object(found), [query_text(found)], session.stop.error
    if failed is not None:  # no error of the question
        data["stopped_by"] = error_object(failed)
        texts.append(f"run {session.stop.run + 1} failed: {error_text(failed)}")
    return Answer(data, "\n".join(texts))


def _request(args: argparse.Namespace) -> FindMoments:
    if bool(args.expression) == bool(args.who):
        raise usage("query takes an expression, or --who NAME", "query FILE 'x[\"loss\"] > 10'")
    if args.every and args.back:
        raise usage("--every is all steps, --back the last one", "leave one of them out")
    text = args.expression or written_by_name(args.who)
    return FindMoments(text=text, which=_which(args))


def _which(args: argparse.Namespace) -> WhichMoment:
    if args.every:
        return "every"
    return "last" if args.back or args.who else "first"
