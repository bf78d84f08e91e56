"""One declared input of an op type."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InputSpec:
    """`variadic` takes any number; `ref` takes a variable's buffer; `host` is read on the host,
    as a shape or an axis is: a backend best hands it over as a NumPy array."""

    name: str
    variadic: bool = False
    ref: bool = False
    host: bool = False

    @classmethod
    def of(cls, text: str) -> InputSpec:
        """From `name`, `name*` (variadic), `&name` (ref) or `#name` (host)."""
        return cls(
            text.strip("&#*"),
            variadic=text.endswith("*"),
            ref=text.startswith("&"),
            host=text.startswith("#"),
        )
