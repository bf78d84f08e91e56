"""By what a kind of file is known: its first bytes, its structure, the names in it.

Nothing of a file is run or unpickled, and little of it is read; see file_sample.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from pathlib import PurePath

from gradstep.core.io.checksum import masked_checksum
from gradstep.core.io.sniff.file_sample import Field, Sample

Sign = Callable[[Sample], bool]

# What begins a text of protocol buffers: comments, then a field.
_PROTO_TEXT = r"(?:\s*#[^\n]*\n)*\s*(?:{})\s*[:{{<]"
_TABLE_END = bytes.fromhex("57fb808b247547db")  # of LevelDB's tables, which checkpoints are
_DATA_FILE = re.compile(r"\.data-\d{5}-of-\d{5}$")
_EVENT = b"brain.Event:"


def begins(*starts: bytes) -> Sign:
    """With one of these bytes."""
    return lambda sample: sample.head.startswith(starts)


def says(pattern: str) -> Sign:
    """A text that begins so; a regular expression."""
    compiled = re.compile(pattern)
    return lambda sample: bool(sample.text and compiled.match(sample.text))


def mentions(start: str, *words: str) -> Sign:
    """A text that begins so, and has all these words in its beginning."""
    return lambda sample: sample.text.startswith(start) and all(w in sample.text for w in words)


def proto_text(*fields: str) -> Sign:
    """A message as text that begins with one of these fields."""
    return says(_PROTO_TEXT.format("|".join(fields)))


def is_zip(sample: Sample) -> bool:
    """By its first bytes; the end may be missing."""
    return sample.head.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def is_cut_zip(sample: Sample) -> bool:
    """One whose table of contents, which comes last, is not there."""
    return sample.head.startswith(b"PK\x03\x04") and not sample.members


def packs(*patterns: str) -> Sign:
    """A zip with a member for each of these regular expressions."""
    compiled = [re.compile(pattern) for pattern in patterns]

    def sign(sample: Sample) -> bool:
        return all(any(p.search(name) for name in sample.members) for p in compiled)

    return sign


def packs_only(pattern: str) -> Sign:
    """A zip whose members are all named so."""
    compiled = re.compile(pattern)
    return lambda sample: bool(sample.members) and all(map(compiled.search, sample.members))


def holds(*patterns: str) -> Sign:
    """A folder with an entry for each of these regular expressions."""
    compiled = [re.compile(pattern) for pattern in patterns]

    def sign(sample: Sample) -> bool:
        names = sample.listing or ()
        return all(any(p.search(name) for name in names) for p in compiled)

    return sign


def is_folder(sample: Sample) -> bool:
    return sample.listing is not None


def is_empty(sample: Sample) -> bool:
    return sample.listing is None and sample.size == 0


# -- messages of protocol buffers ----------------------------------------------------------------


def is_graphdef(sample: Sample) -> bool:
    """Nodes first, each with a name and a type; or only a library, or a version."""
    fields = sample.fields()
    if not fields or any(field.number > 5 for field in fields):
        return False
    nodes = [field for field in fields if field.number == 1]
    if nodes:
        return _is_node(sample, nodes[0])
    library = [field for field in fields if field.number == 2]
    return all(not _is_graph(sample, field) for field in library) and fields[0].number > 1


def is_meta_graph(sample: Sample) -> bool:
    """A description of itself, then the graph."""
    return _is_meta(sample, sample.fields())


def is_saved_model(sample: Sample) -> bool:
    return bool(_meta_graphs(sample))


def is_onnx(sample: Sample) -> bool:
    """A version first; and a graph, or operator sets."""
    fields = sample.fields()
    numbers = {field.number for field in fields}
    known = bool(fields) and fields[0].number == 1 and 0 < fields[0].value < 100
    return known and bool(numbers & {7, 8}) and max(numbers) <= 25 and not _meta_graphs(sample)


def _meta_graphs(sample: Sample) -> list[Field]:
    """Those of a SavedModel: its version, then MetaGraphs."""
    version, *rest = sample.fields() or [Field(0, 0, -1, -1)]
    if version.number != 1 or version.is_bytes or not rest:
        return []
    found = [f for f in rest if f.number == 2 and f.is_bytes and _is_meta(sample, sample.fields(f))]
    return found if len(found) == len(rest) else []


def _is_meta(sample: Sample, fields: list[Field]) -> bool:
    graphs = [f for f in fields if f.number == 2 and f.is_bytes]
    nodes = [f for f in fields if f.number == 1]
    if any(_is_node(sample, node) for node in nodes[:1]):
        return False
    return any(_is_graph(sample, graph) for graph in graphs[:1])


def _is_graph(sample: Sample, field: Field) -> bool:
    first = next(iter(sample.fields(field)), None)
    return first is not None and first.number == 1 and _is_node(sample, first)


def _is_node(sample: Sample, field: Field) -> bool:
    """A NodeDef: its name and its type come first."""
    named = sample.fields(field)[:2] if field.is_bytes else []
    names = [sample.short_text(part) for part in named]
    numbers = [part.number for part in named]
    return numbers == [1, 2] and bool(re.fullmatch(r"[A-Za-z_>][\w.>]*", names[1] or "-"))


# -- others --------------------------------------------------------------------------------------


def is_record_file(sample: Sample) -> bool:
    """TFRecords: a length and its checksum first."""
    length = sample.head[:8]
    return len(sample.head) > 12 and sample.head[8:12] == masked_checksum(length)


def is_event_file(sample: Sample) -> bool:
    return is_record_file(sample) and _EVENT in sample.head[:64]


def is_table(sample: Sample) -> bool:
    """What a checkpoint's index is, and a whole one before TensorFlow 0.12."""
    return sample.tail.endswith(_TABLE_END)


def is_checkpoint_index(sample: Sample) -> bool:
    return is_table(sample) and sample.name.endswith(".index")


def is_checkpoint_data(sample: Sample) -> bool:
    """Bare numbers, known by the name alone."""
    return bool(_DATA_FILE.search(sample.name))


def is_tflite(sample: Sample) -> bool:
    return sample.head[4:8] == b"TFL3"


def is_safetensors(sample: Sample) -> bool:
    """A length, and a JSON object of that length."""
    if len(sample.head) < 10:
        return False
    (length,) = struct.unpack("<Q", sample.head[:8])
    return 2 <= length <= sample.size - 8 and sample.head[8:10] in (b'{"', b"{}", b"{ ")


def is_pickle(sample: Sample) -> bool:
    head = sample.head
    return len(head) > 2 and head[0] == 0x80 and 2 <= head[1] <= 5 and head[2] not in (0, 0xFF)


def is_message_pack(sample: Sample) -> bool:
    """A map whose first key is a short name."""
    head = sample.head
    if not head:
        return False
    start = {0xDE: 3, 0xDF: 5}.get(head[0], 1 if 0x81 <= head[0] <= 0x8F else 0)
    key = head[start : start + 1]
    if not start or not key or not 0xA1 <= key[0] <= 0xBF:
        return False
    name = head[start + 1 : start + 1 + (key[0] & 0x1F)]
    return name.isascii() and name.decode("ascii", "replace").isprintable()


def is_named(*suffixes: str) -> Sign:
    """What nothing tells but the end of the name."""
    return lambda sample: PurePath(sample.name).suffix.lower() in suffixes


def is_called(*names: str) -> Sign:
    """What nothing tells but the whole name."""
    return lambda sample: PurePath(sample.name).name in names


def is_text(sample: Sample) -> bool:
    return bool(sample.text)
