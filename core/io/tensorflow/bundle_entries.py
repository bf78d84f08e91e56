"""What the index of a checkpoint says: how many files of data there are, and of each tensor where.

The messages are those of tensorflow/core/protobuf/tensor_bundle.proto (Apache 2.0).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gradstep.core.graph.dtypes import MAX_RANK
from gradstep.core.io.tensorflow.graphdef_proto import message, parse
from gradstep.core.io.tensorflow.ordered_code import Extent
from gradstep.core.io.tensorflow.reader_versions import CHECKPOINT, require_readable
from gradstep.core.io.tensorflow.sorted_table import damaged

HEADER = b""  # the key of what is said of all
_ALL = -1  # an axis in whole
_LONGEST = 1 << 20  # bytes of an entry: thousands of slices


@dataclass(frozen=True)
class Entry:
    """number: of the element type, as TensorFlow counts them; offset, size: in bytes, in the file
    `shard`; checksum: masked; slices: where a tensor that was saved in parts has them, which have
    entries of their own."""

    number: int
    shape: tuple[int, ...]
    shard: int = 0
    offset: int = 0
    size: int = 0
    checksum: int = 0
    slices: tuple[tuple[Extent, ...], ...] = ()


def read_header(data: bytes) -> int:
    """How many files of data there are. Raises GradstepError (FileError)."""
    header = message("BundleHeaderProto")()
    parse(header, data)
    require_readable(header.version, CHECKPOINT, "it")
    if header.endianness:
        raise damaged("was written by a machine that has the highest byte first")
    if not 0 < header.num_shards <= 99_999:
        raise damaged(f"says that there are {header.num_shards} files of data")
    return int(header.num_shards)


def header_bytes() -> bytes:
    """Of one file of data."""
    header = message("BundleHeaderProto")(num_shards=1)
    header.version.producer = CHECKPOINT
    return bytes(header.SerializeToString(deterministic=True))


def read_entry(data: bytes) -> Entry:
    """Raises GradstepError (FileError)."""
    if len(data) > _LONGEST:
        raise damaged(f"has an entry of {len(data)} bytes, and none may have more than {_LONGEST}")
    proto = message("BundleEntryProto")()
    parse(proto, data)
    return Entry(
        proto.dtype,
        read_sizes(proto.shape),
        proto.shard_id,
        proto.offset,
        proto.size,
        proto.crc32c,
        tuple(map(read_extents, proto.slices)),
    )


def read_sizes(proto: Any) -> tuple[int, ...]:
    """Those of a TensorShapeProto. Raises GradstepError (FileError) for what is no shape."""
    if len(proto.dim) > MAX_RANK or proto.unknown_rank:
        raise damaged(f"has a tensor of {len(proto.dim)} axes")
    return tuple(dim.size for dim in proto.dim)


def read_extents(proto: Any) -> tuple[Extent, ...]:
    """The extents of a TensorSliceProto."""
    return tuple(map(_extent, proto.extent))


def entry_bytes(entry: Entry) -> bytes:
    """The inverse of `read_entry`, of an entry without slices."""
    proto = message("BundleEntryProto")(
        dtype=entry.number,
        shard_id=entry.shard,
        offset=entry.offset,
        size=entry.size,
        crc32c=entry.checksum,
    )
    proto.shape.SetInParent()
    for size in entry.shape:
        proto.shape.dim.add(size=size)
    return bytes(proto.SerializeToString(deterministic=True))


def _extent(proto: Any) -> Extent:
    return proto.start, proto.length if proto.HasField("length") else _ALL
