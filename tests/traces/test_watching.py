"""Watching a training loop, where PyTorch is installed: what it keeps; that it changes nothing."""

from __future__ import annotations

import contextlib
import importlib
import json
import math
import os
import socket
import stat
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")  # of PyTorch's own parts


@pytest.fixture(scope="module")
def exporter() -> Iterator[Any]:
    folder = str(ROOT / "assets" / "capture")
    sys.path.insert(0, folder)
    yield importlib.import_module("gradstep_torch")
    sys.path.remove(folder)


def squared(out: Any, target: Any) -> Any:
    return (out - target).pow(2).mean()


def train(watched: Callable[[Any], Any], steps: int = 6) -> tuple[list[float], Any]:
    """The losses of a small training with dropout and batch norm, and the model. watched: of the
    model, what its loop is in."""
    torch.manual_seed(4)
    layers = torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.5)
    model = torch.nn.Sequential(*layers, torch.nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    with watched(model):
        for _ in range(steps):
            loss = squared(model(torch.randn(5, 3)), torch.ones(5, 2))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(float(loss.detach()))
    return losses, model


def unwatched(_: Any) -> Any:
    return contextlib.nullcontext()


def state_of(model: Any) -> dict[str, Any]:
    return {name: tensor.tolist() for name, tensor in model.state_dict().items()}


def test_a_training_is_the_same_watched_and_kept(exporter: Any, tmp_path: Path) -> None:
    """Losses, weights, buffers and the random numbers after it, though each second step is kept."""
    plain, model = train(unwatched)
    after = torch.rand(3).tolist()
    path = tmp_path / "kept.gstrace"
    found = []

    def watched(of: Any) -> Any:
        found.append(exporter.watch(of, loss=squared, when="", save=path, every=2))
        return found[0]

    losses, other = train(watched)
    assert losses == plain
    assert state_of(other) == state_of(model)
    assert torch.rand(3).tolist() == after
    assert found[0].saved == [str(tmp_path / f"kept-{step}.gstrace") for step in (2, 4, 6)]
    assert all(Path(name).is_file() for name in found[0].saved)


def test_the_function_is_called_by_its_own_name_again(exporter: Any) -> None:
    before = squared
    train(lambda model: exporter.watch(model, loss=squared, when="loss > 1e9"))
    assert squared is before
    assert torch.Tensor.backward.__module__ == "torch._tensor"


@pytest.mark.parametrize(
    ("when", "text"),
    [
        ("los > 1", "there is no 'los'"),
        ("loss >", "is no condition"),
        ("__import__('os')", "there is no '__import__'"),
        ("loss.real", "Attribute is not for conditions"),
        ("[x for x in (1,)]", "is not for conditions"),
    ],
)
def test_a_condition_that_is_none(exporter: Any, when: str, text: str) -> None:
    with pytest.raises(ValueError, match=".*".join(text.split())):
        exporter.watch(torch.nn.Linear(1, 1), when=when)


@pytest.mark.parametrize(
    ("when", "step"),
    [
        ("step == 3", 3),
        ("norm(grad) > 0 and step % 4 == 0", 4),
        ("largest(weight['0.weight']) > 0", 1),
        ("not isfinite(loss) or step > 5", 6),
        ("norm(grad['3.bias']) < 0", None),
    ],
)
def test_conditions(exporter: Any, tmp_path: Path, when: str, step: int | None) -> None:
    path, found = tmp_path / "hit.gstrace", []

    def watched(model: Any) -> Any:
        found.append(exporter.watch(model, loss=squared, when=when, save=path, stop=True))
        return found[0]

    losses, _ = train(watched)
    assert path.is_file() == (step is not None)
    assert len(losses) == (6 if step is None else step - 1)


def test_a_step_that_cannot_be_kept_is_said_and_the_loop_goes_on(
    exporter: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain, _ = train(unwatched)
    nowhere = tmp_path / "no such folder" / "kept.gstrace"
    losses, _ = train(lambda model: exporter.watch(model, squared, "step == 3", nowhere))
    assert losses == plain
    said = capsys.readouterr().err
    assert (
        "Step 3 of the loop, the first at which step == 3. It could not be kept: FileNotFound"
        in said
    )


def test_a_loss_that_something_else_decides_is_remarked(exporter: Any, tmp_path: Path) -> None:
    calls: list[int] = []

    def moody(out: Any, target: Any) -> Any:
        calls.append(1)
        return squared(out, target) * len(calls)

    model = torch.nn.Linear(2, 1)
    path = tmp_path / "moody.gstrace"
    watched = exporter.watch(model, loss=moody, when="step == 2", save=path)
    with watched:
        for _ in range(2):
            watched.loss(model(torch.ones(3, 2)), torch.zeros(3, 1)).backward()
    with zipfile.ZipFile(path) as file:
        remarks = json.loads(file.read("graph.json"))["remarks"]
    assert any("computed again of the same arguments" in one["text"] for one in remarks)


# -- following it live -----------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def runtime(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """Where those who follow find it, and nobody else; a short path: one of a socket has 107 bytes
    at most."""
    tmp_path_factory.getbasetemp()  # which is not to lie in it
    with tempfile.TemporaryDirectory(prefix="gs") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


class Loop:
    """A small loop, a step at a time, and those who follow it."""

    def __init__(self, exporter: Any, **how: Any) -> None:
        torch.manual_seed(1)
        layers = torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1)
        self.model = torch.nn.Sequential(*layers)
        self.watch = exporter.watch(self.model, **{"when": "", **how})

    def step(self, times: int = 1) -> None:
        for _ in range(times):
            self.model.zero_grad()
            self.model(torch.ones(4, 2)).sum().backward()

    def call(self) -> socket.socket:
        """Follow it from the next step on."""
        wire = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = len(self.watch.live.arrivals)
        wire.connect(self.watch.live.path)
        wait(lambda: len(self.watch.live.arrivals) > before)
        return wire


def wait(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.002)


def lines_of(wire: socket.socket) -> list[dict[str, Any]]:
    """All that it says until its end."""
    wire.settimeout(60)
    with wire, wire.makefile() as lines:
        return [json.loads(line) for line in lines]


def test_who_follows_hears_what_was_what_comes_and_the_end(
    exporter: Any, runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [__file__])
    loop = Loop(exporter)
    with loop.watch:
        loop.step(2)
        wire = loop.call()
        loop.step(2)
        weights = [*loop.model.parameters()]
        size = math.hypot(*(float(w.detach().norm()) for w in weights[:2]))
        slope = math.hypot(*(float(w.grad.norm()) for w in weights[:2]))
    greeting, *past, third, fourth, end = lines_of(wire)
    assert greeting == {
        "gradstep": "watch",
        "version": 1,
        "title": "Sequential",
        "script": os.path.abspath(__file__),
        "pid": os.getpid(),
        "torch": torch.__version__,
        "step": 2,
    }
    assert [line["step"] for line in (*past, third, fourth)] == [1, 2, 3, 4]
    assert [[*line] for line in past] == [["step", "loss"]] * 2
    assert past[0]["loss"] == third["loss"], "nothing moves the weights"
    assert fourth["gradient"].keys() == fourth["weight"].keys() == {"0", "2"}
    assert fourth["weight"]["0"] == pytest.approx(size, rel=1e-5)
    assert fourth["gradient"]["0"] == pytest.approx(slope, rel=1e-5)
    assert end == {"ended": 4, "error": ""}


def test_only_its_user_can_open_the_socket_and_it_goes_with_the_loop(
    exporter: Any, runtime: Path
) -> None:
    with Loop(exporter).watch as watched:
        path = Path(watched.live.path)
        assert path == runtime / "gradstep" / "watch" / f"{os.getpid()}.sock"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        with Loop(exporter).watch as inner:
            assert Path(inner.live.path).name == f"{os.getpid()}-2.sock"
        assert [*path.parent.iterdir()] == [path]
    assert [*path.parent.iterdir()] == []


def knocking(told: dict[str, Any], password: str) -> socket.socket:
    wire = socket.create_connection(("127.0.0.1", told["port"]), 60)
    wire.sendall(f"{password}\n".encode())
    return wire


@pytest.mark.parametrize("windows", [False, True])
def test_at_a_port_who_knows_the_password_is_let_in(
    exporter: Any, runtime: Path, monkeypatch: pytest.MonkeyPatch, windows: bool
) -> None:
    """Asked for, and where there are no users as Unix has them."""
    folder = runtime / "gradstep" / "watch"
    how = {} if windows else {"follow": "localhost"}
    if windows:
        monkeypatch.delattr(os, "geteuid")
        monkeypatch.setenv("LOCALAPPDATA", str(runtime))
    loop = Loop(exporter, **how)
    with loop.watch as watched:
        path = Path(watched.live.path)
        assert path == folder / f"{os.getpid()}.door"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        told = json.loads(path.read_text())
        with Loop(exporter, **how).watch as inner:
            assert Path(inner.live.path).name == f"{os.getpid()}-2.door"
        loop.step()
        wire = knocking(told, told["password"])
        wait(lambda: watched.live.arrivals)
        loop.step()
    assert not path.exists()
    with wire, wire.makefile("rb") as lines:
        answer, greeting, *rest = lines
    assert answer == f"{told['answer']}\n".encode()
    assert json.loads(greeting)["gradstep"] == "watch"
    assert [json.loads(line).get("step") for line in rest] == [1, 2, None]


def test_at_a_port_nobody_else_is(exporter: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who says another word, less, or nothing, is told nothing at all."""
    monkeypatch.setattr(exporter, "KNOCK", 0.2)
    with Loop(exporter, follow="localhost").watch as watched:
        told = json.loads(Path(watched.live.path).read_text())
        for word in ("0" * 64, told["answer"], told["password"][:-1] + "g"):
            with knocking(told, word) as wire:
                assert wire.recv(1) == b""
        with socket.create_connection(("127.0.0.1", told["port"]), 60) as wire:
            wire.sendall(told["password"].encode())  # and no end of line
            assert wire.recv(1) == b""
        assert not watched.live.arrivals
        assert socket.gethostbyname("localhost") == watched.live.door.listening.getsockname()[0]


def test_without_a_runtime_folder_it_is_one_beside_temporary_files(
    exporter: Any, runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    with Loop(exporter).watch as watched:
        assert Path(watched.live.path).parent == runtime / f"gradstep-watch-{os.geteuid()}"


@pytest.mark.parametrize("why", ["open", "another's", "a link"])
def test_in_a_folder_that_is_not_ones_own_nobody_listens(
    exporter: Any, runtime: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, why: str
) -> None:
    """The loop goes on, and it is said; the same with either folder."""
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    folder = runtime / f"gradstep-watch-{os.geteuid()}"
    if why == "a link":
        (runtime / "real").mkdir(mode=0o700)
        folder.symlink_to(runtime / "real")
    else:
        folder.mkdir(mode=0o700)
        folder.chmod(0o755 if why == "open" else 0o700)
    me, lstat = os.geteuid(), os.lstat

    def owned_by_another(path: str) -> Any:
        found = [*lstat(path)]
        found[stat.ST_UID] = me + 1
        return os.stat_result(found)

    loop = Loop(exporter)
    with monkeypatch.context() as patched:
        if why == "another's":
            patched.setattr(os, "lstat", owned_by_another)
        with loop.watch as watched:
            loop.step()
            assert watched.live is None
    assert "is not a folder of your own that is closed to others" in capsys.readouterr().err


def test_another_user_is_not_let_in(
    exporter: Any, runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = Loop(exporter)
    with loop.watch as watched:
        me = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: me + 1)
        wire = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        wire.connect(watched.live.path)
        assert lines_of(wire) == []
        loop.step()
        assert not watched.live.followers


def test_nothing_is_computed_while_nobody_follows(
    exporter: Any, runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    plain = exporter._norm_of_each
    monkeypatch.setattr(exporter, "_norm_of_each", lambda t: asked.append(1) or plain(t))
    loop = Loop(exporter)
    with loop.watch:
        loop.step(3)
        assert asked == []
        wire = loop.call()
        loop.step()
        assert len(asked) == 2
        wire.close()
        loop.step(3)
        assert len(asked) == 2
        assert loop.watch.live.followers == []


def test_who_reads_nothing_is_dropped_and_the_loop_never_waits(
    exporter: Any, runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system keeps some, the exporter a little, and then it is over."""
    monkeypatch.setattr(exporter, "LAG", 20_000)
    loop = Loop(exporter)
    with loop.watch as watched:
        slow, fast = loop.call(), loop.call()
        fast.settimeout(60)
        heard = b""
        loop.step()
        while len(watched.live.followers) == 2:
            assert watched.step < 50_000
            loop.step(20)
            heard += fast.recv(1 << 20)
        slow.close()
        loop.step()
        last = watched.step
    with fast:
        heard += b"".join(iter(lambda: fast.recv(1 << 20), b""))
    steps = [json.loads(line).get("step") for line in heard.splitlines()]
    assert steps[1:-1] == [*range(1, last + 1)], "who reads hears all of it"


def test_norms_take_no_more_than_their_share_of_the_time(
    exporter: Any, runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporter, "FREE", 0.0)
    monkeypatch.setattr(exporter, "SHARE", 0.0)
    loop = Loop(exporter)
    with loop.watch:
        wire = loop.call()
        loop.step(3)
    said = [[*line] for line in lines_of(wire)[1:-1]]
    assert said == [["step", "loss", "gradient", "weight"], ["step", "loss"], ["step", "loss"]]


def test_the_past_is_bounded(exporter: Any, runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporter, "PAST", 5)
    loop = Loop(exporter)
    with loop.watch:
        loop.step(12)
        wire = loop.call()
        loop.step()
    assert [line["step"] for line in lines_of(wire)[1:-1]] == [8, 9, 10, 11, 12, 13]


def test_a_saved_step_and_an_error_are_told(exporter: Any, runtime: Path, tmp_path: Path) -> None:
    path = tmp_path / "kept.gstrace"
    loop = Loop(exporter, when="step == 2", save=path)
    with contextlib.suppress(ZeroDivisionError), loop.watch:
        wire = loop.call()
        loop.step(2)
        raise ZeroDivisionError
    *_, second, saved, end = lines_of(wire)
    assert second["step"] == 2
    assert saved == {"saved": str(path), "step": 2, "why": "step == 2"}
    assert end == {"ended": 2, "error": "ZeroDivisionError"}


def test_what_goes_wrong_in_telling_ends_that_and_not_the_loop(
    exporter: Any, runtime: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def broken(_: object) -> None:
        raise RuntimeError("no such operation")

    monkeypatch.setattr(exporter, "_norm_of_each", broken)
    loop = Loop(exporter)
    with loop.watch as watched:
        wire = loop.call()
        loop.step(3)
        assert watched.live is None
    assert len(lines_of(wire)) == 1
    assert "followed no longer: RuntimeError('no such operation')" in capsys.readouterr().err
    assert [*(runtime / "gradstep" / "watch").iterdir()] == []


def test_a_followed_training_gives_the_same_bits(exporter: Any, runtime: Path) -> None:
    plain, model = train(unwatched)
    wires: list[socket.socket] = []

    @contextlib.contextmanager
    def watched(of: Any) -> Iterator[None]:
        with exporter.watch(of, loss=squared, when="") as watch:
            wires.append(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            wires[0].connect(watch.live.path)
            wait(lambda: watch.live.arrivals)
            yield

    losses, other = train(watched)
    assert losses == plain
    assert state_of(other) == state_of(model)
    _, *steps, _ = lines_of(wires[0])
    assert [line["loss"] for line in steps] == plain


@pytest.mark.parametrize(
    ("names", "layers"),
    [
        ([], []),
        (["w"], ["w"]),
        (["fc.weight", "fc.bias", "out.weight", "scale"], ["fc", "out", "scale"]),
        (["module._orig_mod.fc.weight", "module._orig_mod.scale"], ["fc", "scale"]),
        (
            ["embed.weight", *(f"layers.{i}.{n}.weight" for i in range(12) for n in "qkv")],
            ["embed", *(f"layers.{i}" for i in range(12))],
        ),
        (
            [f"{i}.weight" for i in range(50)],
            [*(f"{i} … {i + 2}" for i in range(0, 48, 3)), "48 … 49"],
        ),
    ],
)
def test_layers_are_as_deep_as_they_are_few(
    exporter: Any, names: list[str], layers: list[str]
) -> None:
    assert [*dict.fromkeys(exporter._layers(names).values())] == layers


def test_norms_of_other_kinds_of_tensors(exporter: Any) -> None:
    found = exporter._norm_of_each([
        torch.full((4,), 60000.0, dtype=torch.float16),
        torch.tensor([3.0, 4.0]).to_sparse(),
        torch.tensor([3 + 4j]),
        torch.tensor([1, -2, 2]),
        torch.tensor([float("nan")], dtype=torch.float64),
        torch.zeros(0),
    ])  # fmt: skip
    assert found[:4] == [120000.0, 5.0, 5.0, 3.0]
    assert math.isnan(found[4])
    assert found[5] == 0


KILLED = """
import os, signal, sys
sys.path.insert(0, {folder!r})
import gradstep_torch, torch
watched = gradstep_torch.watch(torch.nn.Linear(1, 1)).__enter__()
print(watched.live.path, flush=True)
{end}
"""


@pytest.mark.parametrize(
    ("end", "left"), [("os.kill(os.getpid(), signal.SIGKILL)", True), ("sys.exit()", False)]
)
def test_a_process_that_ends_leaves_no_socket_unless_it_is_killed(
    exporter: Any, runtime: Path, end: str, left: bool
) -> None:
    code = KILLED.format(folder=str(ROOT / "assets" / "capture"), end=end)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert Path(run.stdout.strip()).exists() == left, run.stderr
    with Loop(exporter).watch as watched:
        assert watched.live is not None


def test_what_autocast_does_in_the_loop_is_in_the_trace(exporter: Any, tmp_path: Path) -> None:
    """The step is kept in `backward`, behind the block in which the forward pass was cast."""
    torch.manual_seed(3)
    model, path = torch.nn.Linear(3, 2), tmp_path / "kept.gstrace"
    with exporter.watch(model, loss=None, when="step == 2", save=path, follow=False):
        for _ in range(3):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                out = model(torch.randn(4, 3)).sum()
            out.backward()
    with zipfile.ZipFile(path) as file:
        nodes = json.loads(file.read("graph.json"))["nodes"]
    linear = next(node for node in nodes if node["op"] == "aten.linear.default")
    assert linear["outputs"][0]["dtype"] == "bfloat16"
    assert not torch.is_autocast_enabled("cpu")


# -- whether what `backward` left is what the trace has --------------------------------------------


def kept_remarks(exporter: Any, path: Path, goes_back: Callable[[Any, int], Any]) -> list[str]:
    """The remarks of a loop's second step. goes_back: from the model and the number of a step, what
    the loop calls `backward` on."""
    torch.manual_seed(2)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    watched = exporter.watch(model, loss=squared, when="step == 2", save=path, follow=False)
    with watched:
        for step in range(2):
            goes_back(model, step).backward()
            if step == 0 and goes_back is not halves:
                model.zero_grad()
    with zipfile.ZipFile(path) as file:
        found = json.loads(file.read("graph.json"))["remarks"]
    return [one["text"] for one in found[1:]]


def loss_of(model: Any, step: int) -> Any:
    return squared(model(torch.full((4, 3), 0.5 + step)), torch.ones(4, 2))


def halves(model: Any, step: int) -> Any:
    return loss_of(model, step) / 2


def test_a_loop_that_goes_back_from_its_loss_has_no_remark(exporter: Any, tmp_path: Path) -> None:
    assert kept_remarks(exporter, tmp_path / "kept.gstrace", loss_of) == []


def test_a_multiple_of_the_loss_is_said(exporter: Any, tmp_path: Path) -> None:
    (text,) = kept_remarks(
        exporter, tmp_path / "kept.gstrace", lambda model, step: 100 * loss_of(model, step)
    )
    assert text.startswith("0.weight, 0.bias, 2.weight, 2.bias: backward left 100 times the")


def test_what_is_added_to_the_loss_is_said_of_the_weights_that_it_reads(
    exporter: Any, tmp_path: Path
) -> None:
    (text,) = kept_remarks(
        exporter,
        tmp_path / "kept.gstrace",
        lambda model, step: loss_of(model, step) + model[2].weight.pow(2).sum(),
    )
    assert text.startswith("2.weight: backward left another gradient than that here")


def test_steps_that_are_added_up_are_said(exporter: Any, tmp_path: Path) -> None:
    (text,) = kept_remarks(exporter, tmp_path / "kept.gstrace", halves)
    assert text.startswith("0.weight, 0.bias, 2.weight, 2.bias: backward left another gradient")
    assert text.endswith("or adds up the gradients of several steps")


def test_weights_that_the_model_writes_to_are_left_as_the_loop_has_them(
    exporter: Any, tmp_path: Path
) -> None:
    class Shrinking(torch.nn.Linear):  # type: ignore[misc, name-defined]
        def forward(self, given: Any) -> Any:
            with torch.no_grad():
                self.weight.mul_(0.9)
            return super().forward(given)

    def weights(when: str) -> list[Any]:
        torch.manual_seed(1)
        model = Shrinking(3, 2)
        path = tmp_path / "kept.gstrace"
        with exporter.watch(model, loss=squared, when=when, save=path, follow=False):
            for _ in range(3):
                squared(model(torch.ones(4, 3)), torch.ones(4, 2)).backward()
        return model.weight.tolist()

    assert weights("step == 2") == weights("")
    assert (tmp_path / "kept.gstrace").is_file()
