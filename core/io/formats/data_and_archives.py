"""What holds data, or other files; and what is left where a download or a copy went wrong."""

from __future__ import annotations

from gradstep.core.io.format_record import Format
from gradstep.core.io.sniff import file_signatures as signs

_ARRAYS = "drop it on a placeholder, or feed it: gradstep run GRAPH --feed NAME=@{path}"
_UNPACK = "unpack it, and open what is in it"

FORMATS = (
    # Data.
    Format("npy", "a NumPy array", signs.begins(b"\x93NUMPY"), todo=_ARRAYS),
    Format("npz", "NumPy arrays (.npz)", signs.packs_only(r"\.npy$"), todo=_ARRAYS + ":NAME"),
    Format("pickle", "a Python pickle", signs.is_pickle, general=True,
           todo="it would have to be run to be read, which Gradstep does not do: save arrays from "
           "it with numpy.save, or the graph as a GraphDef"),
    Format("json", "JSON", signs.says(r"[{\[]"), general=True),
    # What went wrong on the way.
    Format("empty", "empty: it has no bytes", signs.is_empty, todo="use another copy of the file"),
    Format("lfs_pointer", "a pointer of Git LFS, in place of the file",
           signs.says(r"version https://git-lfs"), todo="fetch the file: git lfs pull"),
    Format("web_page", "a web page, as a failed download leaves one",
           signs.says(r"(?i)<!doctype html|<html"), todo="download the file again"),
    # Wrappings.
    Format("folder", "a folder", signs.is_folder, general=True, todo="open a file in it"),
    Format("gzip", "compressed (gzip)", signs.begins(b"\x1f\x8b"), general=True,
           todo="unpack it: gunzip {path}"),
    Format("compressed", "compressed",
           signs.begins(b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf"),
           general=True, todo=_UNPACK),
    Format("cut_zip", "a zip archive, as documents, traces and .pt2 are, that is cut off",
           signs.is_cut_zip, general=True, todo="use another copy of the file"),
    Format("zip", "a zip archive", signs.is_zip, general=True, todo=_UNPACK),
    Format("tar", "a tar archive", lambda sample: sample.head[257:262] == b"ustar", general=True,
           todo=_UNPACK),
)  # fmt: skip
