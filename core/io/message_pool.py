"""Messages of protocol buffers from a short text of their fields, without the package they are of.

They live in a pool of their own, so that they cannot clash with another package's copy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradstep.core.errors import GradstepError

_SCALARS = {
    "double": 1, "float": 2, "int64": 3, "uint64": 4, "int32": 5, "fixed32": 7, "bool": 8,
    "string": 9, "bytes": 12, "uint32": 13,
}  # fmt: skip


def message_pool(
    package: str,
    messages: Mapping[str, tuple[str, ...]],
    enums: Mapping[str, Mapping[str, int]] = {},
    unions: Mapping[str, str] = {},
) -> Any:
    """A pool of these messages.

    messages: name -> fields, "name number type": [] marks a repeated one, {} a map from strings (or
    from what is in the braces), ? one of which it is known whether it is there; a type in capitals
    is a message, or of enums. unions: messages of whose fields one alone is there -> what that is
    called.
    """
    from google.protobuf import descriptor_pb2, descriptor_pool

    file = descriptor_pb2.FileDescriptorProto(
        name=f"gradstep/{package}.proto", package=package, syntax="proto3"
    )
    for name, numbers in enums.items():
        _add_enum(file, name, numbers)
    for name, fields in messages.items():
        _add_message(file, name, fields, enums, unions.get(name, ""))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool


def message_class(pool: Any, name: str) -> Any:
    """The class of a message ("tensorflow.GraphDef")."""
    from google.protobuf import message_factory

    return message_factory.GetMessageClass(pool.FindMessageTypeByName(name))


def parse(into: Any, data: bytes) -> None:
    """Fill a message from its bytes. Raises GradstepError (FileError)."""
    from google.protobuf.message import DecodeError

    try:
        into.ParseFromString(data)
    except (DecodeError, RecursionError):
        raise GradstepError(
            f"{len(data)} bytes are cut off, or not a {into.DESCRIPTOR.name}",
            kind="FileError",
            hint="use another copy of the file",
        ) from None


def _add_enum(file: Any, name: str, numbers: Mapping[str, int]) -> None:
    enum = file.enum_type.add(name=name)
    for value, number in sorted(numbers.items(), key=lambda item: item[1]):
        enum.value.add(name=value, number=number)


def _add_message(
    file: Any, name: str, fields: tuple[str, ...], enums: Mapping[str, Any], union: str
) -> None:
    made = file.message_type.add(name=name)
    if union:
        made.oneof_decl.add(name=union)
    for text in fields:
        field_name, number, kind = text.split()
        field = made.field.add(name=field_name, number=int(number))
        field.label = 3 if kind.endswith(("[]", "}")) else 1
        if kind.endswith("}"):
            _add_map(file.package, made, field, kind[:-1], enums)
        else:
            _set_type(file.package, field, kind.removesuffix("[]").removesuffix("?"), enums)
        if kind.endswith("?"):
            made.oneof_decl.add(name=f"has_{field_name}")
            field.oneof_index = len(made.oneof_decl) - 1
        if union:
            field.oneof_index = 0


def _add_map(package: str, made: Any, field: Any, kinds: str, enums: Mapping[str, Any]) -> None:
    kind, _, key = kinds.partition("{")
    entry = made.nested_type.add(name=f"{field.name.title().replace('_', '')}Entry")
    entry.options.map_entry = True
    _set_type(package, entry.field.add(name="key", number=1, label=1), key or "string", enums)
    _set_type(package, entry.field.add(name="value", number=2, label=1), kind, enums)
    field.type, field.type_name = 11, f".{package}.{made.name}.{entry.name}"


def _set_type(package: str, field: Any, kind: str, enums: Mapping[str, Any]) -> None:
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
    else:
        field.type = 14 if kind in enums else 11
        field.type_name = f".{package}.{kind}"
