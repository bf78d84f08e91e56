"""A file format: what it is called, how a file of it is known, what reads and what writes one.

Light: the records are there for every `--help`, so what reads and writes is imported when it is
called.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradstep.core.io.sniff.file_signatures import Sign

if TYPE_CHECKING:
    from gradstep.core.document.document import Document
    from gradstep.core.io.disk.memory_budget import Budget

Reader = Callable[[bytes, str, "Budget"], "Document"]
Writer = Callable[["Document"], bytes]

OPEN_ANOTHER = "open {readable}"  # a `todo`, where there is nothing better to do


@dataclass(frozen=True)
class Format:
    """One format that Gradstep reads, writes, or only knows.

    name:       for programs.
    what:       in words, for "it is …".
    sniff:      whether a file is one, by what is in it.
    suffixes:   what its files are called: lower case, with the dot.
    title:      what dialogs call it; formats of one title share a line there.
    read:       the document in a file's bytes, given the file's name for messages and the memory
                that it may take. Raises GradstepError (FileError, OverBudgetError). The window
                lets a process do it that was asked to read no bytes at all before: so what is
                imported late has been imported when the file is there.
    write:      the file of a document. Raises GradstepError for what it cannot hold.
    todo:       for what is not read: how to get a file that is. {path} stands for the file's name,
                {file} and {folder} for it and the folder that it is in, as Python writes them,
                {readable} for what opens.
    main_files: names; a folder that holds one of them is opened as that file, and a file of which
                nothing tells what it is, and that is called so, is taken for one.
    by_name:    a file of which nothing tells what it is, and that is called as these are, is taken
                for one, so that its reader says what is wrong with it.
    keeps:      what its files have of a document besides the graph's operations and wires, by the
                names in gradstep.core.io.left_out; None for a drawing, of which nobody expects it,
                and for all of it.
    general:    other formats are made of it, or only its name tells, so that others are asked
                first.
    is_native:  it holds all of a document: Save writes it.
    is_drawn:   whoever has a window writes it, as a picture of the graph.
    has_parts:  its reader may open other files in the folder of the file, and nothing else: they
                hold parts of the document.
    part_folders: its reader may open files in folders of these names beside the file.
    """

    name: str
    what: str
    sniff: Sign
    suffixes: tuple[str, ...] = ()
    title: str = ""
    read: Reader | None = None
    write: Writer | None = None
    todo: str = OPEN_ANOTHER
    main_files: tuple[str, ...] = ()
    by_name: bool = False
    general: bool = False
    keeps: tuple[str, ...] | None = ()
    is_native: bool = False
    is_drawn: bool = False
    has_parts: bool = False
    part_folders: tuple[str, ...] = ()
