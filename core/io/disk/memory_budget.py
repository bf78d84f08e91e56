"""How much memory a file may take: asked before it is taken, by whoever reads a part of it."""

from __future__ import annotations

from gradstep.core.errors import GradstepError

DEFAULT = 1 << 30  # bytes
TEXT = 8  # bytes of a document's records, for each byte of its text
_VALUE = 64  # bytes that a value of JSON takes at least, once it is decoded
KIND = "MemoryLimitError"


class OverBudgetError(GradstepError):
    """A file would take more memory than it may. needed: bytes with which reading it would have
    got further, which is all that it takes where that is known beforehand. what: the part of them
    that was too much, in words."""

    def __init__(self, message: str, needed: int, what: str, hint: str = "") -> None:
        super().__init__(message, kind=KIND, hint=hint)
        self.needed, self.what = needed, what

    def inside(self, place: str) -> OverBudgetError:
        """The same failure, its message led by `place`."""
        return OverBudgetError(f"{place}: {self.message}", self.needed, self.what, self.hint)

    def __reduce__(self) -> tuple[object, ...]:
        return OverBudgetError, (self.message, self.needed, self.what, self.hint)


class Budget:
    """Memory for one file. limit: bytes in all; taken: bytes so far."""

    def __init__(self, limit: int = DEFAULT) -> None:
        self.limit = limit
        self.taken = 0

    @classmethod
    def unlimited(cls) -> Budget:
        """For what this program has written itself."""
        return cls(1 << 62)

    @property
    def longest_text(self) -> int:
        """Bytes of text that may be unpacked, to see how much its records would take: five times
        those of a document of 100,000 operations, by default."""
        return self.limit // TEXT

    def take_json(self, text: bytes | bytearray | memoryview, name: str) -> None:
        """As `take`, of the records that a text will be decoded into."""
        whole = bytes(text) if isinstance(text, memoryview) else text
        marks = sum(map(whole.count, (b",", b"[", b"{")))
        self.take(max(_VALUE * marks, len(whole)), f"what {name} describes")

    def take(self, size: int, what: str) -> None:
        """Say that so many bytes are about to be taken for `what`. Raises OverBudgetError where
        that is too much."""
        needed = self.taken + size
        if needed > self.limit:
            part = f"{in_words(size)} of it for {what}"
            raise OverBudgetError(
                f"it takes {in_words(needed)} of memory, {part}; the limit for a file is "
                f"{in_words(self.limit)}",
                needed,
                part,
                f"if it is meant to be so large, allow it: --memory {_enough(needed)}",
            )
        self.taken = needed


def enough_for(error: OverBudgetError) -> int:
    """A limit with which the file can be tried again: what it takes is not all known yet."""
    return error.needed + error.needed // 4


def in_words(size: int) -> str:
    """`"3.2 GiB"`."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit * 0.9995:
            number = size / unit
            return f"{number:,.0f} {name}" if number >= 9.95 else f"{number:.1f} {name}"
    return f"{size} bytes"


def _enough(needed: int) -> str:
    """A round limit that is no less."""
    return f"{-(-(needed + needed // 4) // (1 << 30))}GiB"
