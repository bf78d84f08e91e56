"""TensorFlow's Summary as a protobuf message, to read and to make what the summary ops give.

Fields and numbers are those of tensorflow/core/framework/summary.proto (Apache 2.0).
"""

from __future__ import annotations

import zlib
from functools import cache
from typing import Any

import numpy as np

_STRING, _MESSAGE, _FLOAT, _DOUBLE, _INT32, _BYTES = 9, 11, 2, 1, 5, 12
_DOUBLES = ("min", "max", "num", "sum", "sum_squares", "bucket_limit", "bucket")


def decode(text: bytes) -> list[Any]:
    """The values of a serialized Summary."""
    return list(_message("Summary").FromString(text).value)


def summary(tags: Any, **content: Any) -> Any:
    """A serialized Summary: for each tag, one of the values or messages of `content`."""
    ((field, values),) = content.items()
    found = _message("Summary")()
    for tag, value in zip(np.ravel(tags), np.ravel(values), strict=True):
        found.value.append(_message("Value")(**{"tag": tag, field: value}))
    return np.array(found.SerializeToString(deterministic=True), object)


def buckets(values: Any) -> Any:
    """The HistogramProto of `values`, counted one by one."""
    numbers = [float(x) for x in np.ravel(values)]
    limits = _limits()
    proto = _message("HistogramProto")(min=limits[-1], max=limits[0], num=len(numbers))
    counts = [0] * len(limits)
    for x in numbers:
        proto.min, proto.max = min(proto.min, x), max(proto.max, x)
        proto.sum, proto.sum_squares = proto.sum + x, proto.sum_squares + x * x
        counts[next(i for i, limit in enumerate(limits) if x < limit)] += 1
    for i, (limit, count) in enumerate(zip(limits, counts, strict=True)):
        if count or i + 1 == len(limits) or counts[i + 1]:
            proto.bucket_limit.append(limit)
            proto.bucket.append(count)
    return proto


def image_summary(tag: Any, images: Any, max_images: int, bad_color: Any) -> Any:
    """A serialized Summary of the first images."""
    count = min(max_images, len(images))
    tags = [tag.item() + (b"/image/%d" % i if max_images > 1 else b"/image") for i in range(count)]
    return summary(tags, image=[picture(_colours(x, bad_color)) for x in images[:count]])


def _colours(image: Any, bad: Any) -> Any:
    """Pixel by pixel; see core/ops/catalogue/control/image_summaries.py."""
    pixels = [p for row in image for p in row]
    numbers = [float(x) for p in pixels if np.isfinite(p).all() for x in p]
    signed = min(numbers) < 0
    top = max(map(abs, numbers))
    scale = float(np.float32(127 if signed else 255) / np.float32(top)) if top >= 1e-6 else 0
    if image.dtype == np.uint8:
        scale = 1
    found = [
        [int(x * scale) if not signed else int(x * scale + 128) for x in p]
        if np.isfinite(p).all()
        else bad[: len(p)].tolist()
        for p in pixels
    ]
    return np.array(found, np.uint8).reshape(image.shape)


def picture(pixels: Any) -> Any:
    """The message of an image, whose file Qt can read, or any other reader."""
    height, width, channels = pixels.shape
    sizes = width.to_bytes(4) + height.to_bytes(4)
    header = sizes + bytes([8, {1: 0, 3: 2, 4: 6}[channels], 0, 0, 0])
    data = zlib.compress(b"".join(b"\0" + row.tobytes() for row in pixels))
    parts = ((b"IHDR", header), (b"IDAT", data), (b"IEND", b""))
    file = b"\x89PNG\r\n\x1a\n" + b"".join(
        len(c).to_bytes(4) + n + c + zlib.crc32(n + c).to_bytes(4) for n, c in parts
    )
    sizes = {"height": height, "width": width, "colorspace": channels}
    return _message("Image")(**sizes, encoded_image_string=file)


@cache
def _limits() -> list[float]:
    steps = np.multiply.accumulate([1e-12, *[1.1] * 800])
    edges = [*steps[steps < 1e20].tolist(), float(np.finfo(float).max)]
    return [-x for x in reversed(edges)] + [0.0, *edges]


@cache
def _message(name: str) -> Any:
    from google.protobuf import message_factory

    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(f"summaries.{name}"))


@cache
def _pool() -> Any:
    from google.protobuf import descriptor_pb2, descriptor_pool

    file = descriptor_pb2.FileDescriptorProto(
        name="summary.proto", package="summaries", syntax="proto3"
    )
    histogram = file.message_type.add(name="HistogramProto")
    for number, name in enumerate(_DOUBLES, 1):
        label = 3 if name.startswith("bucket") else 1
        histogram.field.add(name=name, number=number, label=label, type=_DOUBLE)
    image = file.message_type.add(name="Image")
    for number, name in enumerate(("height", "width", "colorspace"), 1):
        image.field.add(name=name, number=number, label=1, type=_INT32)
    image.field.add(name="encoded_image_string", number=4, label=1, type=_BYTES)
    value = file.message_type.add(name="Value")
    value.oneof_decl.add(name="value")
    value.field.add(name="tag", number=1, label=1, type=_STRING)
    value.field.add(name="simple_value", number=2, label=1, type=_FLOAT, oneof_index=0)
    _refer(value.field.add(name="image", number=4, label=1, oneof_index=0), "Image")
    _refer(value.field.add(name="histo", number=5, label=1, oneof_index=0), "HistogramProto")
    _refer(
        file.message_type.add(name="Summary").field.add(name="value", number=1, label=3), "Value"
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool


def _refer(field: Any, name: str) -> None:
    field.type, field.type_name = _MESSAGE, f".summaries.{name}"


NAMES = {f.__name__: f for f in (summary, buckets, image_summary)}
