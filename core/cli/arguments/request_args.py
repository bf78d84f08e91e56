"""The gradient request that the arguments make."""

from __future__ import annotations

import argparse

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.cli.output.command_output import usage
from gradstep.core.document.document import Document
from gradstep.core.document.requests import main_request
from gradstep.core.program.questions.gradient_candidates import missing_end
from gradstep.core.program.questions.gradient_query import GradientQuery


def query_of(args: argparse.Namespace) -> GradientQuery:
    """What the arguments ask for. Raises GradstepError (UsageError) for what is no override."""
    return GradientQuery(
        of=args.of,
        wrt=args.wrt,
        stop=getattr(args, "stop", ()),
        override=[_pair(text) for text in getattr(args, "override", ())],
        grad_ys=getattr(args, "grad_ys", ()),
        unconnected=getattr(args, "unconnected", None) or "",
        gate=getattr(args, "gate", False),
    )


def _pair(text: str) -> tuple[str, str]:
    target, equals, gradient = text.partition("=")
    if not equals or not target or not gradient:
        raise usage(f"'{text}' is not TARGET=GRADIENT", "write --override Floor=Identity")
    return target, gradient


def require_request(document: Document) -> GradientRequest:
    """The document's main request. Raises GradstepError (UsageError) when it asks for nothing."""
    request, graph = main_request(document), document.graph
    for ref in (*request.of, *request.wrt):
        graph[ref.op]
    lacks = missing_end(graph, request)
    if lacks is not None:
        end, found = lacks
        way = f"write --{end} NAME" + (f"; {found}" if found else "")
        raise usage(f"--{end} is missing, and the document does not say", way)
    return request
