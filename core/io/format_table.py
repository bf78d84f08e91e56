"""All formats: the records that the modules of core/io/formats hold, and what follows from them.

Dialogs, the command line and its hints ask here what there is to open and to write.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import PurePath

from gradstep.core.errors import GradstepError
from gradstep.core.io import formats as records
from gradstep.core.io.format_record import Format
from gradstep.core.io.sniff import file_signatures as signs
from gradstep.core.io.sniff.file_sample import Sample
from gradstep.core.io.sniff.file_signatures import Sign

# What is of no format.
TEXT = Format("text", "text, and no graph", signs.is_text)
UNKNOWN = Format("unknown", "of no kind that Gradstep knows", lambda sample: True)


@cache
def formats() -> tuple[Format, ...]:
    """Every format: Gradstep's own first, then the others that open; else by the names of their
    modules, and in these as they stand there."""
    found: list[Format] = []
    for module in sorted(each.name for each in pkgutil.iter_modules(records.__path__)):
        found += importlib.import_module(f"{records.__name__}.{module}").FORMATS
    return tuple(sorted(found, key=lambda each: (not each.is_native, each.read is None)))


def format_of(sample: Sample) -> Format:
    """What a file is: by what is in it, and only where that does not tell, by its name. There is
    always one."""
    return next(each for sign, each in _signs() if sign(sample))


@cache
def _signs() -> tuple[tuple[Sign, Format], ...]:
    """In the order in which they are looked for."""
    known = sorted(formats(), key=lambda each: each.general)
    return (
        *((each.sniff, each) for each in known),
        *((signs.is_called(*each.main_files), each) for each in known if each.main_files),
        *((signs.is_named(*each.suffixes), each) for each in known if each.by_name),
        *((each.sniff, each) for each in (TEXT, UNKNOWN)),
    )


def suffixes_opened() -> tuple[str, ...]:
    """Of the files that open, each once."""
    found = (suffix for each in formats() if each.read for suffix in each.suffixes)
    return tuple(dict.fromkeys(found))


def suffixes_written(is_drawn: bool = True) -> tuple[str, ...]:
    """Of the files that are written. is_drawn: with those that are drawn by a window, which come
    last."""
    drawn = [each for each in formats() if each.is_drawn and is_drawn]
    written = [each for each in formats() if each.write]
    return tuple(suffix for each in (*written, *drawn) for suffix in each.suffixes)


def format_written_as(suffix: str, is_drawn: bool = True) -> Format:
    """The format of files with a suffix, as `suffixes_written` has them. Raises GradstepError
    (ValueError) where nothing is written so."""
    known = suffixes_written(is_drawn)
    if suffix not in known:
        what = f"{suffix} files" if suffix else "files without a suffix"
        raise GradstepError(
            f"Gradstep does not write {what}",
            kind="ValueError",
            hint=f"it writes {', '.join(known)}",
        )
    writers = (each for each in formats() if each.write or each.is_drawn)
    return next(each for each in writers if suffix in each.suffixes)


def suffix_written(path: str | PurePath) -> str:
    """The suffix by which a file is written, in lower case: the longest that there is (".torch.py"
    before ".py"), else what stands behind the last dot."""
    name = PurePath(path).name.lower()
    fitting = (each for each in suffixes_written() if name.endswith(each))
    return max(fitting, key=len, default=PurePath(name).suffix)


def titles(chosen: Iterable[Format]) -> dict[str, list[str]]:
    """What dialogs call formats, and the suffixes under each title."""
    found: dict[str, list[str]] = {}
    for each in chosen:
        found.setdefault(each.title or each.name, []).extend(each.suffixes)
    return found


def what_opens() -> str:
    """In words, as "a .gradstep document or a TensorFlow GraphDef"."""
    first: dict[str, str] = {}
    for each in formats():
        if each.read:
            first.setdefault(each.title or each.name, each.what)
    return either(tuple(first.values()))


def either(words: Sequence[str]) -> str:
    """As "a, b or c"."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def is_main_file(name: str) -> bool:
    """Whether a folder with a file of this name is opened as that file."""
    return any(name in each.main_files for each in formats())


def todo(found: Format, path: PurePath) -> str:
    """How to get a file that opens, of one at `path` that does not."""
    return found.todo.format(
        path=path, file=repr(str(path)), folder=repr(str(path.parent)), readable=what_opens()
    )
