"""An engine on another machine: `ssh://[user@]host[:port][/path]`, and the command that starts it.

What is said there runs in a shell: of host and user only letters, digits and a few signs are taken,
and the path is quoted. ssh asks nothing, forwards nothing, and takes no option from a host's name.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from gradstep.core.errors import USAGE, GradstepError

SCHEME = "ssh://"
HERE = "here"  # in the place of an address: on this machine
_EXAMPLE = "write ssh://host, ssh://user@host:22 or ssh://host/path/of/its/environment"
_ADDRESS = re.compile(
    r"ssh://(?:(?P<user>[^@/]*)@)?(?P<host>\[[^\]/@]*\]|[^:/@\[\]]*)(?::(?P<port>[^/]*))?"
    r"(?P<path>/.*)?",
    re.DOTALL,
)
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+(?:%[A-Za-z0-9]+)?\]")
_PORT = re.compile(r"[0-9]{1,5}")
_PYTHON = re.compile(r"python[0-9.]*(\.exe)?")
_COMMAND = re.compile(r"gradstep(\.exe)?")
_OPTIONS = (
    "BatchMode=yes",  # a question would be asked where nobody sees it
    "ConnectTimeout=10",
    "ServerAliveInterval=5",  # a connection that is lost is noticed in 20 seconds
    "ServerAliveCountMax=3",
    "ClearAllForwardings=yes",
    "RemoteCommand=none",
    "PermitLocalCommand=no",
)
_FAILED = 255  # how ssh ends where it, and not the command, has failed
_NOT_FOUND = (126, 127, 9009)  # how shells end that do not find a command; the last is Windows'
_PASSED_ON = re.compile(r"No module named '?gradstep|command not found|not found|not recognized|"
                        r"No such file", re.IGNORECASE)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RemoteEngine:
    """host: as ssh takes it, an alias of its settings perhaps. path: of an environment that has
    Gradstep, of its Python or of its command `gradstep`; "" for the one that is found by name. One
    that does not begin with "/" is looked for in the home folder."""

    host: str
    user: str = ""
    port: int = 0
    path: str = ""

    @property
    def address(self) -> str:
        """As users write it."""
        user = f"{self.user}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = f":{self.port}" if self.port else ""
        path = self.path if self.path.startswith("/") or not self.path else f"/~/{self.path}"
        return f"{SCHEME}{user}{host}{port}{path}"

    @property
    def argv(self) -> list[str]:
        """The command that starts it. ssh puts what is behind the host together, for a shell; so
        more may be put behind that."""
        options = [part for option in _OPTIONS for part in ("-o", option)]
        port = ["-p", str(self.port)] if self.port else []
        user = ["-l", self.user] if self.user else []
        return ["ssh", "-T", "-a", "-x", *options, *port, *user, "--", self.host, *self._command()]

    def _command(self) -> list[str]:
        if not self.path:
            return ["gradstep", "engine", "--stdio"]
        path = self.path if self.path.startswith("/") else f"./{self.path}"
        name = PurePosixPath(path).name
        if _COMMAND.fullmatch(name):
            return [shlex.quote(path), "engine", "--stdio"]
        python = path if _PYTHON.fullmatch(name) else f"{path.rstrip('/')}/bin/python"
        return [shlex.quote(python), "-P", "-m", "gradstep.main", "engine", "--stdio"]

    def end(self, status: int, said: Sequence[str], greeted: bool) -> GradstepError | None:
        """Why it ended, as EngineDied; None where that is as on this machine. status: of ssh; said:
        the end of its standard error; greeted: whether the engine had answered."""
        last = next((line.strip() for line in reversed(said) if line.strip()), "")
        if status == _FAILED:
            if greeted:
                return _died(
                    f"the connection to {self.host} was lost" + (f": {last}" if last else ""),
                    "restarting comes back to the same step",
                )
            return _died(
                f"{self.host} cannot be reached: {last or 'ssh failed'}", self._way_in(said)
            )
        if not greeted and (status in _NOT_FOUND or _PASSED_ON.search(last)):
            return _died(
                f"there is no Gradstep on {self.host}"
                + (f" in {self.path}" if self.path else " that is found by its name")
                + (f": {last}" if last else ""),
                f"install it there, or say where it is: ssh://{self.host}/path/of/its/environment",
            )
        return None

    def other_version(self, here: str, there: str) -> GradstepError:
        """The engine there is of another version, or another state of the same."""
        found = f"Gradstep {there}" if there else "another version of Gradstep"
        if here == there:
            found = "another state of it"
        return _died(
            f"{self.host} has {found}, and this is Gradstep {here}",
            "install the same one on both machines",
        )

    def talks(self, what: str) -> GradstepError:
        """Something else than the engine wrote to standard output."""
        return _died(
            f"{self.host} did not answer as an engine: {what}",
            "what a shell prints as it starts there is in the way: have it print nothing where it "
            "has no terminal",
        )

    def no_ssh(self) -> GradstepError:
        """ssh itself cannot be started."""
        return _died(
            f"ssh, which leads to {self.host}, could not be started", "install an OpenSSH client"
        )

    def _way_in(self, said: Sequence[str]) -> str:
        text = "\n".join(said)
        if "Host key verification failed" in text or "REMOTE HOST IDENTIFICATION" in text:
            return f"look at its key once, in a terminal: {self._by_hand}"
        if "Permission denied" in text or "Too many authentication failures" in text:
            return (
                "ssh has to get in without a question, by a key or an agent: try it in a "
                f"terminal: {self._by_hand}"
            )
        return "check the name and the network"

    @property
    def _by_hand(self) -> str:
        """What to type to get there."""
        port = f"-p {self.port} " if self.port else ""
        return f"ssh {port}{f'{self.user}@' if self.user else ''}{self.host}"


# What starts an engine: a command, or where it is on another machine; None for one on this machine.
EngineChoice = Sequence[str] | RemoteEngine | None


def read_address(text: str) -> RemoteEngine:
    """The engine that `ssh://…` names. Raises GradstepError (UsageError)."""
    found = _ADDRESS.fullmatch(text.strip())
    if found is None:
        raise _wrong(f"'{text}' names no engine", _EXAMPLE)
    user, host, port, path = (found[part] for part in ("user", "host", "port", "path"))
    if not _HOST.fullmatch(host):
        raise _wrong(f"'{host}' is no name of a host" if host else "no host is named", _EXAMPLE)
    if user is not None and not _USER.fullmatch(user):
        raise _wrong(f"'{user}' is no name of a user", _EXAMPLE)
    if port is not None and not (_PORT.fullmatch(port) and 0 < int(port) < 1 << 16):
        raise _wrong(f"'{port}' is no port", "a port is a number from 1 to 65535")
    path = path or ""
    if "\\" in path or not path.isprintable():
        raise _wrong("a path there has no backslashes and no control characters", _EXAMPLE)
    path = path[3:].lstrip("/") if path.startswith("/~/") else path
    return RemoteEngine(
        host.strip("[]"), user or "", int(port or 0), "" if path.strip("/") == "" else path
    )


def _wrong(what: str, hint: str) -> GradstepError:
    return GradstepError(what, kind=USAGE, hint=hint)


def _died(what: str, hint: str) -> GradstepError:
    return GradstepError(what, kind="EngineDied", hint=hint)
