"""Write a document in another format, chosen by the suffix of OUT; `-` prints it as Python."""

from __future__ import annotations

import argparse
from pathlib import Path

from gradstep.core.cli.application_protocol import Answer, Application
from gradstep.core.cli.arguments.restore_args import with_restored
from gradstep.core.cli.arguments.shared_arguments import budget
from gradstep.core.cli.output.command_output import usage
from gradstep.core.cli.output.left_out_remark import remark
from gradstep.core.data.array_files import Reading
from gradstep.core.data.first_batch import fed_once, write_exported
from gradstep.core.data.opened_data import fed_kinds
from gradstep.core.document.document import Document
from gradstep.core.document.placement_edits import place_as_written
from gradstep.core.errors import GradstepError
from gradstep.core.io.export_document import to_bytes
from gradstep.core.io.format_table import format_written_as, suffix_written
from gradstep.core.io.formats.gradstep_document import is_named_as_own
from gradstep.core.io.open_document import read
from gradstep.core.program.questions.code_from_file import code_from


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """Write OUT. Nothing in the document is run, so it need not be trusted."""
    if args.out != "-":
        _check(Path(args.out))
    if args.pack_data and not is_named_as_own(args.out):
        raise usage(f"{args.out} holds no data", "name a .gradstep file, or leave --pack-data away")
    document = with_restored(read(args.file, budget(args)), args)
    document = place_as_written(document, args.place)
    if args.code:
        code = {**document.code, **code_from(document, args.code)}
        document = document.with_(code=code)
    if args.pack_data:
        document = _packed(document, args)
    if args.out == "-":
        document, lacks = fed_once(document, format_written_as(".py"), args.memory)
        text = to_bytes(document, ".py").decode().rstrip("\n")
        remark("what is printed", lacks)
        return Answer({"text": text, "left_out": lacks}, text)
    lacks = write_exported(args.out, document, app.picture, args.memory)
    remark(args.out, lacks)
    return Answer({"written": args.out, "left_out": lacks}, f"wrote {args.out}")


def _packed(document: Document, args: argparse.Namespace) -> Document:
    """With the rows of its data. Raises GradstepError: what files give."""
    if document.data is None:
        raise usage(f"{args.file} has no data", "leave --pack-data away, or give it data first")
    from gradstep.core.data.row_packing import pack_data

    return pack_data(document, fed_kinds(document, document.graph), Reading(budget=budget(args)))


def _check(out: Path) -> None:
    """Before the document is read, which may take long."""
    try:
        format_written_as(suffix_written(out))
    except GradstepError as error:
        raise usage(error.message, error.hint) from None
