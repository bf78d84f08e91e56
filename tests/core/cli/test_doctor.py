"""What doctor says of a Qt that does not load: as Gradstep was installed, and as the system is."""

from __future__ import annotations

import pytest

from gradstep.core.cli import doctor

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
