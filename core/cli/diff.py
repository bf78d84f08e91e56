"""What one document has otherwise than another: nodes added, removed, renamed, rewired."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gradstep.core.cli.application_protocol import Answer, Application
from gradstep.core.cli.arguments.shared_arguments import budget
from gradstep.core.document.document import Document
from gradstep.core.document.node_renaming import rename_node
from gradstep.core.graph.foreign_origin import SOURCE_LINE
from gradstep.core.graph.relabel import relabel
from gradstep.core.graph.structural_alignment import find_renames
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.native.diff_sentences import Change, changes
from gradstep.core.io.open_document import read

Row = tuple[str, str, str, tuple[str, ...]]  # kind, what, name, details
_SOURCE = f"{SOURCE_LINE}: "  # begins what is said of it
_MARKS = {"added": "+", "removed": "-", "changed": "~", "renamed": "→"}


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """Nothing in the documents is run."""
    before, after = (read(file, budget(args)) for file in (args.file, args.other))
    renames = {} if args.names else find_renames(before.graph, after.graph)
    found: list[Row] = [("renamed", "node", old, (new,)) for old, new in renames.items()]
    found += [_plain(change) for change in changes(_renamed(before, renames), after)]
    rows = [{"kind": k, "what": w, "name": n, "details": [*d]} for k, w, n, d in found]
    text = "\n".join(_lines(found, args.all)) or "the two are the same"
    return Answer({"changes": rows}, text, int(bool(found)))


def _lines(found: Sequence[Row], every: bool) -> Iterator[str]:
    """A line for each change. Where operations stand in a program is other as soon as somebody puts
    a line before them: that is counted, unless every line is asked for."""
    moved = 0
    for kind, what, name, details in found:
        kept = tuple(d for d in details if every or not d.startswith(_SOURCE))
        moved += len(kept) < len(details)
        if kept or not details:
            yield _line(kind, what, name, kept)
    if moved:
        nodes = "1 node" if moved == 1 else f"{moved:,} nodes"
        yield f"~ source lines of {nodes}  (--all lists them)"


def _plain(change: Change) -> Row:
    return change.kind.value, change.what, change.name, change.details


def _renamed(document: Document, names: Mapping[str, str]) -> Document:
    """The document with other names of nodes, as a file has it."""
    if not names:
        return document

    def name_of(name: str) -> str:
        return names.get(name, name)

    named = replace(rename_node(document, name_of), graph=relabel(document.graph, name_of))
    data = gradstep_file.to_bytes(named, readable=False)
    return gradstep_file.from_bytes(data, budget=Budget.unlimited())


def _line(kind: str, what: str, name: str, details: tuple[str, ...]) -> str:
    head = f"{_MARKS[kind]} {what} {name}".rstrip()
    if kind == "renamed":
        return f"{head} is {details[0]}"
    if len(details) > 1:
        return "\n".join([head, *(f"    {detail}" for detail in details)])
    return f"{head}  {details[0]}" if details else head
