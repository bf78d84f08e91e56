"""Export networks of PyTorch's to ONNX, and write what ONNX Runtime and PyTorch give of each.

    python tests/onnx/export_models.py FOLDER [NAME…]

needs torch, transformers, onnx, onnxruntime and onnxscript, and nothing of Gradstep. NAME.onnx is
the model, and NAME.npz its inputs (`in/NAME`), outputs as ONNX Runtime has them (`out/NAME`) and,
as PyTorch has them, gradients of the mean of the first output times `shares`
(`gradient/PARAMETER`). The models that come with ONNX (light_…) have the outputs that it recorded.
Weights are drawn. NAME: those alone that have it, or one of them, in their names.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np


def networks():
    """Name -> the network and its inputs, made when it is asked for."""
    import torch
    import transformers as t

    def image(model):
        for each in model.modules():  # else what comes out is next to nothing
            if isinstance(each, torch.nn.Conv2d):
                torch.nn.init.kaiming_normal_(each.weight)
            if isinstance(each, torch.nn.BatchNorm2d):  # it is folded into the weights
                each.running_var.fill_(1.0 - each.eps)
        return model, {"pixel_values": torch.randn(2, 3, 64, 64)}

    def text(model, words):
        for each in model.modules():  # else equal weights are one in the file
            if isinstance(each, torch.nn.LayerNorm):
                torch.nn.init.normal_(each.weight, 1.0, 0.2)
                torch.nn.init.normal_(each.bias, 0.0, 0.2)
            if isinstance(each, torch.nn.Linear) and each.bias is not None:
                torch.nn.init.normal_(each.bias, 0.0, 0.02)
        return model, {"input_ids": torch.randint(0, words, (2, 12))}

    return {
        "resnet50": lambda: image(t.ResNetForImageClassification(t.ResNetConfig(num_labels=1000))),
        "mobilenet_v2": lambda: image(t.MobileNetV2ForImageClassification(t.MobileNetV2Config())),
        "bert": lambda: text(t.BertModel(t.BertConfig(num_hidden_layers=4)), 30522),
        "gpt2": lambda: text(t.GPT2LMHeadModel(t.GPT2Config(n_layer=4, use_cache=False)), 50257),
    }


def export(name, make, folder):
    import onnxruntime
    import torch

    torch.manual_seed(0)
    model, inputs = make()
    model.eval()

    class First(torch.nn.Module):
        """The first output alone."""

        def __init__(self):
            super().__init__()
            self.net = model

        def forward(self, x):
            return self.net(x)[0]

    first, (x,) = First().eval(), inputs.values()
    path = folder / f"{name}.onnx"
    torch.onnx.export(
        first, (x,), path, dynamo=True, input_names=["x"], output_names=["y"],
        external_data=False, verbose=False,
    )  # fmt: skip
    (out,) = onnxruntime.InferenceSession(str(path)).run(None, {"x": x.numpy()})
    made = first(x)
    shares = torch.randn(made.shape)
    (made * shares).mean().backward()
    arrays = {"in/x": x.numpy(), "out/y": out, "shares": shares.numpy()}
    for key, parameter in first.named_parameters():
        if parameter.grad is not None:
            arrays[f"gradient/{key}"] = parameter.grad.numpy()
    np.savez(folder / f"{name}.npz", **arrays)


def copy_light(path, folder):
    """One of those that come with ONNX."""
    import onnx
    from onnx.backend.test.runner import Runner

    model, arrays = onnx.load(path), {}
    known = {one.name for one in model.graph.initializer}
    fed = [one for one in model.graph.input if one.name not in known]
    for one in fed:
        made = Runner.generate_dummy_data(one, seed=0, name=path.stem, random=False)
        arrays[f"in/{one.name}"] = made
    for number, one in enumerate(model.graph.output):
        tensor = onnx.load_tensor(path.with_name(f"{path.stem}_output_{number}.pb"))
        arrays[f"out/{one.name}"] = onnx.numpy_helper.to_array(tensor)
    (folder / path.name).write_bytes(path.read_bytes())
    np.savez(folder / f"{path.stem}.npz", **arrays)


def main(folder, names):
    import onnx

    light = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
    for name, make in networks().items():
        if not names or any(one in name for one in names):
            export(name, make, folder)
            sys.stdout.write(f"exported {name}\n")
    for path in sorted(light.glob("*.onnx")):
        if not names or any(one in path.stem for one in names):
            copy_light(path, folder)
            sys.stdout.write(f"copied {path.stem}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
