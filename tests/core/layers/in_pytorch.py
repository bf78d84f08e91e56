"""What PyTorch makes of the blocks; its own interpreter runs `in_pytorch.py IN.npz OUT.npz`.

IN holds arrays `<case>/in/<name>`, `<case>/var/<name>` and `<case>/weight/<n>`; OUT gets
`<case>/out/<n>`, and `<case>/grad/<in or var>/<name>` of Σ weight · out. Variables are laid out as
TensorFlow lays them out: the mapping to PyTorch's is here, so that gradients come back through it.
"""

import sys
from collections import defaultdict

import numpy as np
import torch
from torch import nn
from torch.func import functional_call
from torch.nn import functional as F  # noqa: N812


def channels_first(x):
    return x.permute(0, 3, 1, 2)


def channels_last(x):
    return x.permute(0, 2, 3, 1)


def conv(x, v, **how):
    kernel = v["kernel"].permute(3, 2, 0, 1)
    return channels_last(F.conv2d(channels_first(x), kernel, v["bias"], **how))


def normed(x, v, training, epsilon=1e-3):
    names = ("moving_mean", "moving_variance")
    moving = (None if training else v[name].detach() for name in names)
    first = channels_first(x) if x.ndim == 4 else x
    y = F.batch_norm(first, *moving, v["gamma"], v["beta"], training, 0.01, epsilon)
    return channels_last(y) if x.ndim == 4 else y


def split(kernel, depth):
    """The parts for inputs and state, as PyTorch has them."""
    return kernel[:depth].T, kernel[depth:].T


def rnn_step(i, v):
    x, h = i["inputs"], i["state"]
    cell = nn.RNNCell(x.shape[1], h.shape[1])
    w, u = split(v["kernel"], x.shape[1])
    parameters = {
        "weight_ih": w, "weight_hh": u, "bias_ih": v["bias"], "bias_hh": torch.zeros(h.shape[1])
    }  # fmt: skip
    return functional_call(cell, parameters, (x, h))


def gru_step(i, v):
    """PyTorch's GRU resets after its product, TensorFlow's before it: written out."""
    x, h = i["inputs"], i["state"]
    gates = torch.cat([x, h], 1) @ v["gates/kernel"] + v["gates/bias"]
    r, u = torch.sigmoid(gates).chunk(2, 1)
    c = torch.tanh(torch.cat([x, r * h], 1) @ v["candidate/kernel"] + v["candidate/bias"])
    return u * h + (1 - u) * c


def lstm_parameters(v, depth, suffix=""):
    """TensorFlow's gates are i, j, f, o with 1 added to f; PyTorch's are i, f, j, o."""
    i, j, f, o = v["kernel"].chunk(4, 1)
    w, u = split(torch.cat([i, f, j, o], 1), depth)
    bi, bj, bf, bo = v["bias"].chunk(4)
    bias = torch.cat([bi, bf + 1, bj, bo])
    return {
        f"weight_ih{suffix}": w, f"weight_hh{suffix}": u,
        f"bias_ih{suffix}": bias, f"bias_hh{suffix}": torch.zeros_like(bias),
    }  # fmt: skip


def lstm_step(i, v):
    x, c, h = i["inputs"], i["c"], i["h"]
    cell = nn.LSTMCell(x.shape[1], h.shape[1])
    return functional_call(cell, lstm_parameters(v, x.shape[1]), (x, (h, c)))


def lstm(i, v):
    """Outputs, then the state as TensorFlow has it: c, h."""
    x = i["inputs"]
    v = {name.removeprefix("lstm_cell/"): value for name, value in v.items()}
    module = nn.LSTM(x.shape[2], v["bias"].shape[0] // 4, batch_first=True)
    parameters = lstm_parameters(v, x.shape[2], "_l0")
    if "sequence_length" not in i:
        out, (h, c) = functional_call(module, parameters, x)
        return out, c[0], h[0]
    lengths = i["sequence_length"].long()
    packed = nn.utils.rnn.pack_padded_sequence(x, lengths, True, enforce_sorted=False)
    out, (h, c) = functional_call(module, parameters, (packed,))
    out, _ = nn.utils.rnn.pad_packed_sequence(out, True, total_length=x.shape[1])
    return out, c[0], h[0]


def heads(i, v, causal=False):
    q, k, value = (i[n].transpose(0, 1) for n in ("query", "key", "value"))
    parts = ("query", "key", "value")
    depth = q.shape[2]
    out, _ = F.multi_head_attention_forward(
        q, k, value, depth, 2, None, torch.cat([v[f"{n}/bias"] for n in parts]), None, None, False,
        0.0, v["output/kernel"].T, v["output/bias"], need_weights=False,
        use_separate_proj_weight=True, q_proj_weight=v["query/kernel"].T,
        k_proj_weight=v["key/kernel"].T, v_proj_weight=v["value/kernel"].T,
    )  # fmt: skip
    return out.transpose(0, 1)


def attend(i, **how):
    return F.scaled_dot_product_attention(i["query"], i["key"], i["value"], **how)


CASES = {
    "dense": lambda i, v: F.linear(i["inputs"], v["kernel"].T, v["bias"]),
    "dense_of_rank_3": lambda i, v: F.relu(F.linear(i["inputs"], v["kernel"].T, v["bias"])),
    "conv2d": lambda i, v: conv(i["inputs"], v, stride=(2, 1)),
    "conv2d_same": lambda i, v: conv(i["inputs"], v, padding=1),
    "max_pool": lambda i, v: channels_last(F.max_pool2d(channels_first(i["inputs"]), 2)),
    "avg_pool": lambda i, v: channels_last(F.avg_pool2d(channels_first(i["inputs"]), 3, 2)),
    "batch_norm": lambda i, v: normed(i["inputs"], v, True),
    "batch_norm_of_images": lambda i, v: normed(i["inputs"], v, True),
    "batch_norm_inference": lambda i, v: normed(i["inputs"], v, False),
    "layer_norm": lambda i, v: F.layer_norm(
        i["inputs"], i["inputs"].shape[-1:], v["gamma"], v["beta"], 1e-5
    ),
    "embedding": lambda i, v: F.embedding(i["ids"].long(), v["embeddings"]),
    "basic_rnn_cell": rnn_step,
    "gru_cell": gru_step,
    "lstm_cell": lstm_step,
    "dynamic_rnn": lstm,
    "dynamic_rnn_with_lengths": lstm,
    "static_rnn": lstm,
    "softmax_cross_entropy": lambda i, v: F.cross_entropy(
        i["logits"], i["labels"].detach(), reduction="none"
    ),
    "softmax_cross_entropy_v2": lambda i, v: F.cross_entropy(
        i["logits"], i["labels"], reduction="none"
    ),
    "sparse_softmax_cross_entropy_loss": lambda i, v: F.cross_entropy(
        i["logits"], i["labels"].long()
    ),
    "sigmoid_cross_entropy_loss": lambda i, v: F.binary_cross_entropy_with_logits(
        i["logits"], i["labels"]
    ),
    "weighted_cross_entropy": lambda i, v: F.binary_cross_entropy_with_logits(
        i["logits"], i["labels"], reduction="none", pos_weight=torch.tensor(3.0)
    ),
    "mean_squared_error": lambda i, v: F.mse_loss(i["predictions"], i["labels"]),
    "absolute_difference": lambda i, v: F.l1_loss(i["predictions"], i["labels"]),
    "huber_loss": lambda i, v: F.huber_loss(i["predictions"], i["labels"], delta=0.5),
    "attention": lambda i, v: attend(i),
    "attention_causal": lambda i, v: attend(i, is_causal=True),
    "multi_head_attention": heads,
}


def run(case, groups):
    tensors = {
        kind: {n: torch.tensor(a) for n, a in groups[kind].items()} for kind in ("in", "var")
    }
    leaves = {
        f"{kind}/{n}": t.requires_grad_()
        for kind, named in tensors.items()
        for n, t in named.items()
        if t.is_floating_point()
    }
    outputs = CASES[case](tensors["in"], tensors["var"])
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    weights = [torch.tensor(groups["weight"][str(n)]) for n in range(len(outputs))]
    loss = sum((w * y).sum() for w, y in zip(weights, outputs, strict=True))
    grads = torch.autograd.grad(loss, list(leaves.values()), allow_unused=True)
    found = {f"{case}/out/{n}": y.detach().numpy() for n, y in enumerate(outputs)}
    for name, grad in zip(leaves, grads, strict=True):
        if grad is not None:
            found[f"{case}/grad/{name}"] = grad.numpy()
    return found


def main(given, to):
    cases = defaultdict(lambda: defaultdict(dict))
    for key, array in np.load(given).items():
        case, kind, name = key.split("/", 2)
        cases[case][kind][name] = array
    found = {}
    for case, groups in cases.items():
        found |= run(case, groups)
    np.savez(to, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
