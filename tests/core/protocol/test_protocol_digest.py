"""Two ends that know other messages have other digests; nothing else changes it."""

from __future__ import annotations

import os
import subprocess
import sys

import msgspec
import pytest

from gradstep.core.protocol import messages
from gradstep.core.protocol.protocol_digest import protocol_digest


@pytest.mark.slow
def test_it_is_the_same_in_every_process() -> None:
    say = "from gradstep.core.protocol.protocol_digest import *; print(protocol_digest())"
    done = [
        subprocess.run(
            [sys.executable, "-c", say], capture_output=True, text=True, check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": os.environ.get("PYTHONPATH", "")},
        ).stdout.strip()
        for seed in ("1", "2")
    ]  # fmt: skip
    assert done == [protocol_digest()] * 2


class Control(msgspec.Struct, kw_only=True):
    command: str
    target: str = ""


class Typed(msgspec.Struct, kw_only=True):
    command: bytes
    target: str = ""


class Default(msgspec.Struct, kw_only=True):
    command: str
    target: str = "x"


def test_fields_types_and_defaults_count(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {protocol_digest()}
    for kind in (Control, Typed, Default):
        monkeypatch.setattr(messages, "Control", kind)
        found.add(protocol_digest.__wrapped__())
    monkeypatch.undo()
    assert len(found) == 4
    assert protocol_digest.__wrapped__() in found
