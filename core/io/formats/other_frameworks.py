"""Files of PyTorch, JAX and others, which are not read; traces of them are."""

from __future__ import annotations

from gradstep.core.io.format_record import OPEN_ANOTHER, Format
from gradstep.core.io.sniff import file_signatures as signs

_TORCH = (
    "write a trace of the model instead, which opens here: save what `gradstep capture torch` "
    "prints as gradstep_torch.py beside your code, and call its save(…); a .pt2 opens, too"
)
_JAX = (
    "write a trace of the function instead, which opens here: save what `gradstep capture jax` "
    "prints as gradstep_jax.py beside your code, and call its save(…)"
)
_WEIGHTS = "it has weights and no graph: open the graph of the model, and give it these as values"

FORMATS = (
    Format("torch_script", "a TorchScript module of PyTorch",
           signs.packs(r"/data\.pkl$", r"/code/"), todo=_TORCH),
    Format("torch", "a PyTorch file: weights, or a whole module (.pt, .pth)",
           signs.packs(r"(^|/)data\.pkl$"), todo=_TORCH),
    Format("torch_old", "a PyTorch file of before version 1.6",
           signs.begins(b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."), todo=_TORCH),
    Format("hugging_face_folder", "the folder of a Hugging Face model",
           signs.holds(r"^config\.json$", r"\.(safetensors|bin|h5|msgpack)$"), todo=_TORCH),
    Format("safetensors", "a safetensors file, which holds weights", signs.is_safetensors,
           todo=_WEIGHTS),
    Format("gguf", "a GGUF file, which holds a language model's weights", signs.begins(b"GGUF"),
           todo=_WEIGHTS),
    Format("flax", "a MessagePack file, as Flax saves weights in", signs.is_message_pack,
           todo=_WEIGHTS),
    Format("stablehlo", "a program of JAX in StableHLO", signs.says(r"(?s)(#loc|module @)"),
           todo=_JAX),
    Format("mlir", "MLIR bytecode, as JAX exports programs in", signs.begins(b"ML\xefR"),
           todo=_JAX),
    Format("hlo", "a program of XLA as text", signs.says("HloModule"),
           todo=f"XLA's programs are not read: {OPEN_ANOTHER}"),
)  # fmt: skip
