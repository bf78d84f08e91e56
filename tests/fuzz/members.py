"""Changes to the members of a document's zip, to .npy headers, and to bytes."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.fuzz import odd
from tests.fuzz.case import MARK
from tests.fuzz.examples import Members


def damaged(dice: Random, data: bytes) -> bytes:
    """Some bytes other, missing or too many."""
    found = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 8))):
        at = dice.randrange(len(found) + 1)
        what = dice.randrange(4)
        if what == 0 and at < len(found):
            found[at] = dice.randrange(256)
        elif what == 1:
            del found[at : at + dice.choice((1, 2, 50))]
        elif what == 2:
            found[at:at] = dice.choice((b"\0", b"\xff" * 4, b"{", b"[", b'"', b"PK\x05\x06"))
        else:
            found = found[:at] if dice.random() < 0.3 else found
    return bytes(found)


def _drop(dice: Random, members: Members) -> None:
    del members[dice.choice([*members])]


def _rename(dice: Random, members: Members) -> None:
    old = dice.choice([*members])
    new = dice.choice(
        ("../x", "/abs", "a\\b", "", "tensors/../x.npy", "DOCUMENT.JSON", "code/odd.py")
    )
    members[new] = members.pop(old)


def _bytes(dice: Random, members: Members) -> None:
    name = dice.choice([*members])
    members[name] = damaged(dice, members[name])


def _header(dice: Random, members: Members) -> None:
    """Of a .npy member: another header, or another of its numbers."""
    names = [name for name in members if name.endswith(".npy")]
    if not names:
        members["tensors/odd.npy"] = _npy(dice)
        return
    name = dice.choice(names)
    members[name] = (
        _npy(dice)
        if dice.random() < 0.6
        else damaged(dice, members[name][:128]) + (members[name][128:])
    )


def _npy(dice: Random) -> bytes:
    descr = dice.choice(("'<f4'", "'|O'", "'<U9'", "'>f8'", "'<c8'", "[('a','<f4')]", "9", "'V5'"))
    shape = dice.choice(
        ("(2,3)", "()", "(-1,)", "(99999999999,)", "2", "(2,", "(0,0)", "[1]", "(1.5,)")
    )
    order = dice.choice(("False", "True", "0", "None"))
    header = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"
    if dice.random() < 0.2:
        header = odd.slip(dice, header)
    text = header.encode() + b"\n"
    size = len(text) if dice.random() < 0.9 else dice.randrange(1 << 16)
    return b"\x93NUMPY\x01\x00" + size.to_bytes(2, "little") + text + bytes(dice.randrange(40))


def _mark(dice: Random, members: Members) -> None:
    members["code/odd.py"] = dice.choice(
        (MARK, f"{MARK}def f(*args):\n    {MARK.splitlines()[-1]}\n")
    )


CHANGES: tuple[Callable[[Random, Members], None], ...] = (
    *(_drop, _rename, _bytes, _bytes, _header, _header, _mark),
)
