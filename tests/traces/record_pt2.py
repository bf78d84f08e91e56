"""Recording the .pt2 files of tests/data/traces/pt2, and what PyTorch computes of them.

    python tests/traces/record_pt2.py [--out FOLDER]

needs PyTorch. Beside each file lies an .npz: its inputs ("input/x"), what comes out ("output/0"),
and the gradients of the first output's sum ("gradient/fc.weight").
"""

from __future__ import annotations

import argparse
import logging
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(Path(__file__).parent))

import torch  # noqa: E402
import torch_models  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils._pytree import tree_leaves  # noqa: E402

NAMES = ("mlp", "resnet18", "lstm", "gru", "vit", "gpt", "no_grad", "moe", "llama", "cond",
         "while_loop", "scan")  # fmt: skip


class Bidirectional(nn.Module):
    """Each kind of recurrent layer, both ways, in time's order, without biases."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 4, bidirectional=True)
        self.gru = nn.GRU(8, 2, num_layers=2, bias=False)
        self.tanh = nn.RNN(2, 3)
        self.relu = nn.RNN(3, 3, nonlinearity="relu", bidirectional=True)

    def forward(self, x):
        x, (hidden, _) = self.lstm(x)
        x, _ = self.gru(x)
        x, _ = self.tanh(x)
        x, last = self.relu(x)
        return x.sum(0) + last.sum() + hidden.mean()


class Short(nn.Module):
    """A weight in bfloat16, one in half a memory, and changes in place."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(4).to(torch.bfloat16))
        self.columns = nn.Parameter(torch.randn(4, 3).t())
        self.register_buffer("seen", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.seen.add_(1)
        y = x * self.scale.float()
        y.mul_(2).add_(self.seen)
        y.clamp_(min=-3)
        return y @ self.columns.t()


def cases():
    found = torch_models.cases()
    own = {
        "bidirectional": torch_models.Case(Bidirectional, torch.randn(4, 2, 3)),
        "short": torch_models.Case(Short, torch.randn(3, 4)),
    }
    return {**{name: found[name] for name in NAMES}, **own}


def record(folder, name, case):
    torch.manual_seed(11)
    model = case.make().train(case.train and name in ("resnet18", "gru"))
    args = (case.args,) if isinstance(case.args, torch.Tensor) else tuple(case.args)
    buffers = {key: buffer.clone() for key, buffer in model.named_buffers()}
    program = torch.export.export(model, args)
    torch.export.save(program, folder / f"{name}.pt2")
    _without_places(folder / f"{name}.pt2")
    with torch.no_grad():
        for key, buffer in model.named_buffers():
            buffer.copy_(buffers[key])
    outputs = [o for o in tree_leaves(model(*args)) if isinstance(o, torch.Tensor)]
    outputs[0].float().sum().backward()
    user = [n for n in program.graph_signature.user_inputs if isinstance(n, str)]
    kept = {f"input/{n}": a for n, a in zip(user, tree_leaves(args), strict=True)}
    kept |= {f"output/{i}": o for i, o in enumerate(outputs)}
    weights = {n: model.get_parameter(n) for n in program.graph_signature.parameters}
    kept |= {f"gradient/{n}": p.grad for n, p in weights.items() if p.grad is not None}
    kept |= {f"buffer/{n}": b for n, b in model.named_buffers()}
    np.savez_compressed(folder / f"{name}.npz", **{k: _array(t) for k, t in kept.items()})


def _without_places(path):
    """Lines of source are in the file by where it lay; as anywhere, in the file that is kept."""
    libraries = str(Path(torch.__file__).parents[1]).encode()
    with zipfile.ZipFile(path) as file:
        members = {info.filename: file.read(info) for info in file.infolist()}
    with zipfile.ZipFile(path, "w") as file:
        for member, data in members.items():
            if member.endswith(".json"):
                data = data.replace(libraries, b"/usr/lib/site-packages")
                data = data.replace(f"{ROOT}/".encode(), b"")
            file.writestr(zipfile.ZipInfo(member), data)


def _array(tensor):
    tensor = tensor.detach()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "tests" / "data" / "traces" / "pt2")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    torch.manual_seed(7)
    for own, one in cases().items():
        record(out, own, one)
        sys.stdout.write(f"{own}\n")
