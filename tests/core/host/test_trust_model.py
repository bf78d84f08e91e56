"""The trust store against a model: whatever two processes do to it, and whatever becomes of its
file, it trusts what the user said last, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from gradstep.core.errors import GradstepError
from gradstep.core.program.trust.permission_levels import Permission
from gradstep.core.program.trust.trust_store import Decision, TrustStore, now
from tests.support.drawn_share import share

ROOT = Path(__file__).resolve().parents[3]
SERVER = """
import sys, msgspec
from tests.core.host.test_trust_model import act
for line in sys.stdin:
    print(act(*msgspec.json.decode(line)), flush=True)
"""
PROGRAMS = [f"program {number}" for number in range(4)]
DAMAGE = [b"", b"{", b"\xff", b'{"version": 1}', b'{"trusted": ["program 0"]}', b"[[[["]


def act(folder: str, what: str, program: str, value: str) -> str:
    """One act on the store, in whatever process; "damaged" where that is the answer."""
    store = TrustStore(Path(folder))

    def changed(old: tuple[Decision, ...]) -> Any:
        kept = [d for d in old if d.fingerprint not in (program, value)]
        made = Decision(program, Permission(what), place="here", decided=now(), used=now())
        return [*kept, made]

    try:
        if what == "read":
            found = store.read().find(program)
            return found.permission.value if found else "refused"
        if what == "revoke":
            store.change(lambda old: [d for d in old if d.fingerprint != program])
        elif what == "revoke all":
            store.change(lambda _: [])
        else:
            store.change(changed)
    except GradstepError:
        return "damaged"
    return "done"


class Processes:
    """This process, and another one that is started once."""

    def __init__(self) -> None:
        self._other: subprocess.Popen[str] | None = None

    def act(self, elsewhere: bool, *what: str) -> str:
        if not elsewhere:
            return act(*what)
        if self._other is None:
            pipe = subprocess.PIPE
            self._other = subprocess.Popen(
                [sys.executable, "-c", SERVER], cwd=ROOT, stdin=pipe, stdout=pipe, text=True
            )
        assert self._other.stdin is not None
        assert self._other.stdout is not None
        self._other.stdin.write(msgspec.json.encode(what).decode() + "\n")
        self._other.stdin.flush()
        return self._other.stdout.readline().strip()

    def close(self) -> None:
        if self._other is not None:
            self._other.communicate()


PROCESSES = Processes()
FEW = settings(max_examples=share(20), stateful_step_count=12, deadline=None)
program, elsewhere = st.sampled_from(PROGRAMS), st.booleans()


class Store(RuleBasedStateMachine):
    """`said` is the model: what the user decided, by program, and whether the file is whole."""

    copies = Bundle("copies")

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.store = TrustStore(Path(self.folder.name))
        self.said: dict[str, str] = {}
        self.spoilt, self.set_aside = False, 0

    def teardown(self) -> None:
        self.folder.cleanup()

    def act(self, elsewhere: bool, *what: str) -> None:
        """Nothing is decided on a damaged file: it is set aside, and that is the answer."""
        answer = PROCESSES.act(elsewhere, self.folder.name, *what)
        assert answer == ("damaged" if self.spoilt else "done")
        self.set_aside += self.spoilt

    @rule(program=program, answer=st.sampled_from(["full", "confined"]), elsewhere=elsewhere)
    def allow(self, program: str, answer: str, elsewhere: bool) -> None:
        self.act(elsewhere, answer, program, "")
        if not self.spoilt:
            self.said[program] = answer
        self.spoilt = False

    @rule(before=program, after=program, elsewhere=elsewhere)
    def edit(self, before: str, after: str, elsewhere: bool) -> None:
        """The user's own document is another program now: its entry is replaced."""
        if before in self.said:
            self.act(elsewhere, self.said[before], after, before)
            if not self.spoilt:
                self.said[after] = self.said.pop(before)
            self.spoilt = False

    @rule(program=program, elsewhere=elsewhere)
    def revoke(self, program: str, elsewhere: bool) -> None:
        self.act(elsewhere, "revoke", program, "")
        if not self.spoilt:
            self.said.pop(program, None)
        self.spoilt = False

    @rule(elsewhere=elsewhere)
    def revoke_all(self, elsewhere: bool) -> None:
        self.act(elsewhere, "revoke all", "", "")
        if not self.spoilt:
            self.said = {}
        self.spoilt = False

    @rule(data=st.sampled_from(DAMAGE))
    def damage(self, data: bytes) -> None:
        if self.store.path.exists():
            self.store.path.write_bytes(data)
            self.said, self.spoilt = {}, True

    @rule()
    def lose_the_key(self) -> None:
        if self.said:
            (self.store.path.parent / "trusted.key").unlink()
            self.said, self.spoilt = {}, True

    @rule(target=copies)
    def copy(self) -> bytes:
        """Of the list of another user, to be planted here: what it trusts does not count."""
        with tempfile.TemporaryDirectory() as folder:
            for one in PROGRAMS:
                act(folder, "full", one, "")
            return TrustStore(Path(folder)).path.read_bytes()

    @rule(data=copies)
    def plant(self, data: bytes) -> None:
        self.store.path.parent.mkdir(parents=True, exist_ok=True)
        self.store.path.write_bytes(data)
        self.said, self.spoilt = {}, True

    @invariant()
    def trusts_what_was_said_last(self) -> None:
        if not hasattr(self, "store"):
            return
        read = self.store.read()
        assert {d.fingerprint: d.permission.value for d in read.decisions} == self.said
        assert bool(read.damage) == self.spoilt
        assert len(self.store.damaged()) == self.set_aside


@pytest.mark.slow
def test_the_store_is_as_the_model_says() -> None:
    try:
        run_state_machine_as_test(Store, settings=FEW)
    finally:
        PROCESSES.close()
