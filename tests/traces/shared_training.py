"""A training in several processes, watched: one of them.

    python tests/traces/shared_training.py KIND RANK PROCESSES FOLDER

KIND: "ddp" (DistributedDataParallel) or "fsdp" (FSDP2). Each process has other data; rank 1 has an
outlier in its third step, which it alone is asked to keep. Prints the losses and the files.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "assets" / "capture"))

import gradstep_torch
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = torch.nn.Linear(6, 8), torch.nn.Linear(8, 4)
        self.norm = torch.nn.BatchNorm1d(8)  # whose buffers processes tell each other

    def forward(self, x):
        return self.last(torch.relu(self.norm(self.first(x))))


def main(kind, rank, processes, folder):
    torch.distributed.init_process_group(
        "gloo", f"file://{folder}/meeting", rank=rank, world_size=processes
    )
    torch.manual_seed(1)
    model = _in_processes(kind, Net(), processes)
    losses, saved = _train(model, rank, f"{folder}/kept.gstrace")
    sys.stdout.write(json.dumps({"losses": losses, "saved": saved}) + "\n")
    torch.distributed.destroy_process_group()


def _in_processes(kind, model, processes):
    if kind == "ddp":
        return torch.nn.parallel.DistributedDataParallel(model)
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh("cpu", (processes,))
    for part in (model.first, model.last, model):
        fully_shard(part, mesh=mesh)
    return model


def _train(model, rank, path):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss_function = torch.nn.functional.mse_loss
    torch.manual_seed(10 + rank)
    losses = []
    # norm(grad) is only asked where the loss is large, which is in one process alone
    with gradstep_torch.watch(
        model, loss=loss_function, when="loss > 50 and norm(grad) > 0", save=path, paths=False
    ) as watched:
        for step in range(5):
            x, y = torch.randn(4, 6), torch.randn(4, 4)
            loss = watched.loss(model(x), y * (100 if (rank, step) == (1, 2) else 1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(float(loss.detach()))
    return losses, watched.saved


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
