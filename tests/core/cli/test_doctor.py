"""What doctor says of what is missing: as Gradstep was installed, and as the system is."""

from __future__ import annotations

import pytest

from gradstep.core.cli import doctor
from gradstep.core.engine.calls.native_table import Table
from gradstep.core.native_extension import SWITCH, Extension

MISSING = "libEGL.so.1: cannot open shared object file"


@pytest.mark.parametrize(
    ("checkout", "apt", "fix", "commands"),
    [
        (True, None, "run ./dev setup", ["./dev setup"]),
        (False, "/usr/bin/apt-get", "sudo apt-get install libegl1 ", None),
        (False, None, "with your system's package manager", []),
    ],
)
def test_a_library_of_the_system_that_qt_lacks(
    monkeypatch: pytest.MonkeyPatch,
    checkout: bool,
    apt: str | None,
    fix: str,
    commands: list[str] | None,
) -> None:
    monkeypatch.setattr(doctor, "_QT", f"raise SystemExit({MISSING!r})")
    monkeypatch.setattr(doctor, "is_checkout", lambda: checkout)
    monkeypatch.setattr("shutil.which", lambda name: apt)
    (found,) = doctor._qt()
    assert (found.ok, found.text) == (False, MISSING)
    assert fix in found.fix
    if commands is None:
        commands = [f"sudo apt-get install {doctor.QT_PACKAGES}"]
    assert found.commands == commands


def native(monkeypatch: pytest.MonkeyPatch, found: Extension, checkout: bool) -> tuple[bool, str]:
    monkeypatch.setattr(doctor, "extension", lambda: found)
    monkeypatch.setattr(doctor, "is_checkout", lambda: checkout)
    fact = doctor._native()
    return fact.ok, f"{fact.text}: {fact.fix} {fact.commands}"


def test_native_tables_that_are_not_there_say_how_to_get_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def make(calls: object) -> Table:
        raise NotImplementedError

    monkeypatch.delenv(SWITCH, raising=False)
    assert native(monkeypatch, Extension(make, version="0.1.0"), True)[0]
    missing = Extension(why_not="not installed")
    ok, text = native(monkeypatch, missing, checkout=True)
    assert not ok
    assert text.startswith("not installed; ")
    assert "./dev native" in text
    assert "gradstep-native" in native(monkeypatch, missing, checkout=False)[1]
    monkeypatch.setenv(SWITCH, "0")
    off = native(monkeypatch, Extension(why_not=f"switched off by {SWITCH}=0"), checkout=True)[1]
    assert f"unset {SWITCH}" in off
