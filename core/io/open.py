"""Reading a document from any supported file, by its suffix."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from core.errors import GradstepError
from core.io.document import Document

MAX_FILE = 4 << 30  # bytes


def read(path: str | os.PathLike[str]) -> Document:
    """The document at `path`: .gradstep, or a TensorFlow GraphDef (.pb, .pbtxt). Raises
    GradstepError: FileError for a file that cannot be read or understood.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in READERS:
        raise _unknown(path, suffix)
    return READERS[suffix](read_file(path), os.fspath(path))


def read_file(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file. Raises GradstepError (FileError) that says why there are none."""
    name = os.fspath(path)
    try:
        if Path(path).is_dir():
            raise _cannot(name, "it is a folder", "open a file in it")
        if (size := Path(path).stat().st_size) > MAX_FILE:
            raise _cannot(name, f"its {size} bytes are over the limit of {MAX_FILE}", "")
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise _cannot(name, "there is no such file", _near(Path(path))) from None
    except PermissionError:
        raise _cannot(name, "you may not read it", "check the file's permissions") from None
    except (OSError, ValueError) as error:
        raise _cannot(name, str(error), "") from None


def _read_gradstep(data: bytes, name: str) -> Document:
    from core.io.store import from_bytes

    return from_bytes(data, name)


def _read_pb(data: bytes, name: str) -> Document:
    from core.io.graphdef import from_pb

    return from_pb(data, name)


def _read_pbtxt(data: bytes, name: str) -> Document:
    from core.io.graphdef import from_pbtxt

    return from_pbtxt(data, name)


READERS: dict[str, Callable[[bytes, str], Document]] = {
    ".gradstep": _read_gradstep,
    ".pb": _read_pb,
    ".pbtxt": _read_pbtxt,
}


def _unknown(path: str | os.PathLike[str], suffix: str) -> GradstepError:
    known = ", ".join(READERS)
    what = f"files of type {suffix}" if suffix else "files without a suffix"
    return _cannot(os.fspath(path), f"Gradstep does not read {what}", f"it reads {known}")


def _near(path: Path) -> str:
    from difflib import get_close_matches

    try:
        names = [p.name for p in path.parent.iterdir() if p.suffix.lower() in READERS]
    except OSError:
        return f"there is no folder {path.parent} either"
    near = get_close_matches(path.name, names, n=1)
    return f"did you mean {path.parent / near[0]}?" if near else "check the path"


def _cannot(name: str, reason: str, hint: str) -> GradstepError:
    return GradstepError(f"cannot open {name}: {reason}", kind="FileError", hint=hint)
