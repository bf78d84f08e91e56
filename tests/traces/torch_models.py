"""Small models of every kind, as PyTorch's users write them: what the traces are recorded of.

Needs PyTorch, and `transformers` for some; imported by record_torch.py alone.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch._higher_order_ops import scan, while_loop


class Case:
    """A model, what it is given, its loss and the targets. train: in training mode. core: taken
    apart into PyTorch's core operations."""

    def __init__(self, make, args, loss=None, targets=(), train=True, core=False, **more):
        self.make, self.args, self.targets = make, args, targets
        self.loss = loss or squared
        self.train, self.core, self.more = train, core, more


def squared(out, *_):
    first = out[0] if isinstance(out, tuple) else out
    return (first.float() * torch.linspace(0.5, 1.5, first.shape[-1])).sin().pow(2).mean()


def images(rows=2, size=8, channels=3):
    return torch.randn(rows, channels, size, size)


# -- images ----------------------------------------------------------------------------------------


class BasicBlock(nn.Module):
    def __init__(self, a, b, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(a, b, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(b)
        self.conv2 = nn.Conv2d(b, b, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(b)
        self.relu = nn.ReLU(inplace=True)
        self.down = None
        if stride != 1 or a != b:
            self.down = nn.Sequential(nn.Conv2d(a, b, 1, stride, bias=False), nn.BatchNorm2d(b))

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.relu(out + (x if self.down is None else self.down(x)))


class Bottleneck(nn.Module):
    def __init__(self, a, b, stride=1):
        super().__init__()
        c = b // 2
        self.conv1, self.bn1 = nn.Conv2d(a, c, 1, bias=False), nn.BatchNorm2d(c)
        self.conv2, self.bn2 = nn.Conv2d(c, c, 3, stride, 1, bias=False), nn.BatchNorm2d(c)
        self.conv3, self.bn3 = nn.Conv2d(c, b, 1, bias=False), nn.BatchNorm2d(b)
        self.down = nn.Sequential(nn.Conv2d(a, b, 1, stride, bias=False), nn.BatchNorm2d(b))

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = F.relu(self.bn2(self.conv2(out)))
        return F.relu(self.bn3(self.conv3(out)) + self.down(x))


class ResNet(nn.Module):
    def __init__(self, block=BasicBlock, widths=(4, 8)):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 4, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(4)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        self.layer1 = nn.Sequential(block(4, widths[0]), block(widths[0], widths[0]))
        self.layer2 = nn.Sequential(block(widths[0], widths[1], 2), block(widths[1], widths[1]))
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(widths[1], 5)

    def forward(self, x):
        x = self.maxpool(F.relu(self.bn1(self.conv1(x))))
        x = self.layer2(self.layer1(x))
        return self.fc(torch.flatten(self.avgpool(x), 1))


class SqueezeExcitation(nn.Module):
    def __init__(self, c, activation=nn.ReLU, scale=nn.Hardsigmoid):
        super().__init__()
        self.fc1, self.fc2 = nn.Conv2d(c, 2, 1), nn.Conv2d(2, c, 1)
        self.activation, self.scale = activation(), scale()

    def forward(self, x):
        s = F.adaptive_avg_pool2d(x, 1)
        return x * self.scale(self.fc2(self.activation(self.fc1(s))))


class InvertedResidual(nn.Module):
    def __init__(self, a, b, c, stride, activation, se, scale, drop=0.0):
        super().__init__()
        self.expand = nn.Sequential(nn.Conv2d(a, b, 1, bias=False), nn.BatchNorm2d(b), activation())
        self.depthwise = nn.Sequential(
            nn.Conv2d(b, b, 3, stride, 1, groups=b, bias=False), nn.BatchNorm2d(b), activation()
        )
        self.se = SqueezeExcitation(b, se, scale)
        self.project = nn.Sequential(nn.Conv2d(b, c, 1, bias=False), nn.BatchNorm2d(c))
        self.keeps, self.drop = stride == 1 and a == c, drop

    def forward(self, x):
        y = self.project(self.se(self.depthwise(self.expand(x))))
        if not self.keeps:
            return y
        if self.training and self.drop:  # stochastic depth, by row
            noise = torch.empty((y.shape[0], 1, 1, 1)).bernoulli_(1 - self.drop)
            y = y * noise.div_(1 - self.drop)
        return x + y


class MobileNetV3(nn.Module):
    def __init__(self):
        super().__init__()
        hs, relu = nn.Hardswish, nn.ReLU
        self.stem = nn.Sequential(
            nn.Conv2d(3, 4, 3, 2, 1, bias=False), nn.BatchNorm2d(4, momentum=0.01), hs()
        )
        self.a = InvertedResidual(4, 8, 4, 1, hs, relu, nn.Hardsigmoid)
        self.b = InvertedResidual(4, 8, 6, 2, relu, relu, nn.Hardsigmoid)
        self.head = nn.Sequential(nn.Linear(6, 8), hs(), nn.Dropout(0.2), nn.Linear(8, 4))

    def forward(self, x):
        return self.head(F.adaptive_avg_pool2d(self.b(self.a(self.stem(x))), 1).flatten(1))


class EfficientNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 4, 3, 2, 1, bias=False), nn.BatchNorm2d(4), nn.SiLU()
        )
        self.a = InvertedResidual(4, 8, 4, 1, nn.SiLU, nn.SiLU, nn.Sigmoid, 0.3)
        self.b = InvertedResidual(4, 8, 6, 2, nn.SiLU, nn.SiLU, nn.Sigmoid)
        self.head = nn.Sequential(nn.Dropout(0.2), nn.Linear(6, 4))

    def forward(self, x):
        return self.head(self.b(self.a(self.stem(x))).mean((2, 3)))


class DenseLayer(nn.Module):
    def __init__(self, a, growth):
        super().__init__()
        self.norm, self.conv = nn.BatchNorm2d(a), nn.Conv2d(a, growth, 3, padding=1, bias=False)

    def forward(self, features):
        return self.conv(F.relu(self.norm(torch.cat(features, 1))))


class DenseNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, padding=1)
        self.layers = nn.ModuleList([DenseLayer(4 + 3 * i, 3) for i in range(3)])
        self.transition = nn.Sequential(nn.BatchNorm2d(13), nn.ReLU(), nn.AvgPool2d(2, 2))
        self.fc = nn.Linear(13, 4)

    def forward(self, x):
        features = [self.stem(x)]
        for layer in self.layers:
            features.append(layer(features))
        return self.fc(self.transition(torch.cat(features, 1)).mean((2, 3)))


def vgg():
    return nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(True), nn.MaxPool2d(2, 2),
        nn.Conv2d(4, 6, 3, padding="same"), nn.ReLU(True), nn.MaxPool2d(2, 2, ceil_mode=True),
        nn.AdaptiveAvgPool2d((3, 3)), nn.Flatten(), nn.Linear(54, 8), nn.ReLU(True),
        nn.Dropout(0.5), nn.Linear(8, 4),
    )  # fmt: skip


class VisionTransformer(nn.Module):
    def __init__(self, d=8, heads=2, layers=2):
        super().__init__()
        self.patch = nn.Conv2d(3, d, 4, 4)
        self.cls = nn.Parameter(torch.randn(1, 1, d) * 0.1)
        self.pos = nn.Parameter(torch.randn(1, 5, d) * 0.1)
        layer = nn.TransformerEncoderLayer(
            d, heads, 16, 0.0, "gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, layers, nn.LayerNorm(d), False)
        self.head = nn.Linear(d, 4)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], 1) + self.pos
        return self.head(self.encoder(x)[:, 0])


class SwinBlock(nn.Module):
    """Shifted windows with relative positions."""

    def __init__(self, d=8, heads=2, window=2, shift=1):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 16), nn.GELU(), nn.Linear(16, d))
        self.heads, self.window, self.shift = heads, window, shift
        self.table = nn.Parameter(torch.randn((2 * window - 1) ** 2, heads) * 0.1)
        at = torch.stack(torch.meshgrid(*[torch.arange(window)] * 2, indexing="ij")).flatten(1)
        apart = (at[:, :, None] - at[:, None, :]).permute(1, 2, 0) + window - 1
        self.register_buffer("index", apart[..., 0] * (2 * window - 1) + apart[..., 1])

    def forward(self, x):
        b, h, w, d = x.shape
        n, s = self.window, self.shift
        y = torch.roll(self.norm1(x), (-s, -s), (1, 2))
        y = y.view(b, h // n, n, w // n, n, d).permute(0, 1, 3, 2, 4, 5).reshape(-1, n * n, d)
        qkv = self.qkv(y).reshape(-1, n * n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        bias = self.table[self.index.view(-1)].view(n * n, n * n, -1).permute(2, 0, 1)
        a = (q * (d // self.heads) ** -0.5) @ k.transpose(-2, -1) + bias.unsqueeze(0)
        y = self.proj((a.softmax(-1) @ v).transpose(1, 2).reshape(-1, n * n, d))
        y = y.view(b, h // n, w // n, n, n, d).permute(0, 1, 3, 2, 4, 5).reshape(b, h, w, d)
        x = x + torch.roll(y, (s, s), (1, 2))
        return x + self.mlp(self.norm2(x))


class Swin(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, 8, 2, 2)
        self.blocks = nn.Sequential(SwinBlock(shift=0), SwinBlock(shift=1))
        self.merge = nn.Linear(32, 8, bias=False)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        x = self.blocks(self.patch(x).permute(0, 2, 3, 1))
        parts = [x[:, i::2, j::2] for i in (0, 1) for j in (0, 1)]
        return self.head(self.merge(torch.cat(parts, -1)).mean((1, 2)))


class ConvNeXtBlock(nn.Module):
    def __init__(self, d=6):
        super().__init__()
        self.depthwise = nn.Conv2d(d, d, 7, padding=3, groups=d)
        self.norm = nn.LayerNorm(d, 1e-6)
        self.up, self.down = nn.Linear(d, 12), nn.Linear(12, d)
        self.gamma = nn.Parameter(torch.full((d, 1, 1), 0.3))

    def forward(self, x):
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        return x + self.gamma * self.down(F.gelu(self.up(y))).permute(0, 3, 1, 2)


class ConvNeXt(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.block = nn.Conv2d(3, 6, 2, 2), ConvNeXtBlock()
        self.norm, self.head = nn.LayerNorm(6), nn.Linear(6, 3)

    def forward(self, x):
        return self.head(self.norm(self.block(self.stem(x)).mean((-2, -1))))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 8, 3, padding=1, groups=2)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.out = nn.Conv2d(8, 1, 1)

    def forward(self, x):
        a = F.silu(self.a(x))
        b = F.gelu(self.b(F.max_pool2d(a, 2)))
        return torch.sigmoid(self.out(torch.cat([self.up(b), a], 1)))


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.decode = nn.Linear(12, 8), nn.Linear(4, 12)

    def forward(self, x):
        mean, logvar = self.encode(x).chunk(2, 1)
        z = mean + torch.randn_like(mean) * (logvar / 2).exp()
        return self.decode(z), mean, logvar


def vae_loss(out, x):
    r, mean, logvar = out
    divergence = -0.5 * (1 + logvar - mean.pow(2) - logvar.exp()).mean()
    return F.binary_cross_entropy_with_logits(r, x.sigmoid()) + divergence


class DCGAN(nn.Module):
    """Generator and discriminator, one after the other."""

    def __init__(self):
        super().__init__()
        self.generator = nn.Sequential(
            nn.ConvTranspose2d(5, 8, 4, 1, 0, bias=False), nn.BatchNorm2d(8), nn.ReLU(True),
            nn.ConvTranspose2d(8, 3, 4, 2, 1, bias=False), nn.Tanh(),
        )  # fmt: skip
        self.discriminator = nn.Sequential(
            nn.Conv2d(3, 8, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, True),
            nn.Conv2d(8, 1, 4, 1, 0, bias=False), nn.Sigmoid(),
        )  # fmt: skip

    def forward(self, z):
        return self.discriminator(self.generator(z)).flatten()


class DiffusionUNet(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, d))
        self.inp, self.norm = nn.Conv2d(2, d, 3, padding=1), nn.GroupNorm(4, d)
        self.down, self.attn_norm = nn.Conv2d(d, d, 3, 2, 1), nn.GroupNorm(2, d)
        self.attn = nn.MultiheadAttention(d, 2, batch_first=True)
        self.up, self.out = nn.Conv2d(d, d, 3, padding=1), nn.Conv2d(2 * d, 2, 3, padding=1)

    def forward(self, x, t):
        steps = torch.exp(-math.log(100) * torch.arange(4) / 4)
        angle = t.float()[:, None] * steps[None]
        emb = self.time(torch.cat([angle.sin(), angle.cos()], -1))
        a = F.silu(self.norm(self.inp(x))) + emb[:, :, None, None]
        b = self.down(a)
        y = self.attn_norm(b).flatten(2).transpose(1, 2)
        b = b + self.attn(y, y, y, need_weights=False)[0].transpose(1, 2).reshape(b.shape)
        b = self.up(F.interpolate(b, scale_factor=2, mode="nearest"))
        return self.out(torch.cat([a, b], 1))


class Functional(nn.Module):
    """Functions of every kind."""

    def __init__(self):
        super().__init__()
        self.w, self.b = nn.Parameter(torch.randn(6, 3, 3, 3) * 0.1), nn.Parameter(torch.zeros(6))
        self.p, self.gn = nn.PReLU(6), nn.GroupNorm(2, 6)
        self.inn = nn.InstanceNorm2d(6, affine=True)

    def forward(self, x):
        x = F.conv2d(F.pad(x, (1, 1, 2, 2), mode="reflect"), self.w, self.b, stride=2, padding=1)
        x = self.inn(self.gn(self.p(x)))
        x = F.avg_pool2d(x, 3, stride=2, padding=1, ceil_mode=True, count_include_pad=False)
        x = F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
        x = F.leaky_relu(x, 0.1) + F.softplus(x) * F.elu(x, 0.7) + F.mish(x) - F.hardtanh(x, -2, 2)
        x = F.adaptive_avg_pool2d(x, (3, 2)) + F.pad(x[:, :, :3, :2], (0, 0), value=1.0)
        x = F.normalize(x.flatten(1), dim=1) * x.flatten(1).clamp(-1, 0.8).std(1, keepdim=True)
        return F.log_softmax(x, 1)


# -- sequences -------------------------------------------------------------------------------------


class LSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(12, 4, padding_idx=0)
        self.rnn, self.out = nn.LSTM(4, 5, num_layers=2, batch_first=True), nn.Linear(5, 12)

    def forward(self, ids):
        return self.out(self.rnn(self.emb(ids))[0][:, -1])


class GRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(4, 5, bidirectional=True, batch_first=True)
        self.out = nn.Linear(10, 3)

    def forward(self, x):
        return self.out(self.rnn(x)[0].mean(1))


class CellLoop(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.LSTMCell(4, 5), nn.Linear(5, 2)

    def forward(self, x):
        h = c = x.new_zeros(x.shape[0], 5)
        for t in range(x.shape[1]):
            h, c = self.cell(x[:, t], (h, c))
        return self.out(h)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn, self.norm = nn.MultiheadAttention(8, 2, batch_first=True), nn.LayerNorm(8)

    def forward(self, x, mask):
        return self.norm(x + self.attn(x, x, x, key_padding_mask=mask, need_weights=True)[0])


class CausalDecoder(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerDecoderLayer(8, 2, 16, 0.1, batch_first=True)
        self.decoder = nn.TransformerDecoder(layer, 2)

    def forward(self, x, memory):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return self.decoder(x, memory, tgt_mask=mask, tgt_is_causal=True)


class GPT(nn.Module):
    """One block, its head tied to its embedding."""

    def __init__(self, d=8, heads=2, words=11, length=6):
        super().__init__()
        self.tok, self.pos = nn.Embedding(words, d), nn.Parameter(torch.randn(length, d) * 0.1)
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(
            nn.Linear(d, 16), nn.GELU(approximate="tanh"), nn.Linear(16, d), nn.Dropout(0.1)
        )
        self.head = nn.Linear(d, words, bias=False)
        self.head.weight = self.tok.weight

    def forward(self, ids):
        x = self.tok(ids) + self.pos
        b, t, d = x.shape
        qkv = self.qkv(self.ln1(x)).view(b, t, 3, self.heads, d // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        drop = 0.1 if self.training else 0.0
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=drop)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, d))
        return self.head(x + self.mlp(self.ln2(x)))


class Autocast(nn.Module):
    """Norms of short floats beside weights in float32, as torch.autocast leaves them."""

    def __init__(self, dtype):
        super().__init__()
        self.dtype, self.enter = dtype, nn.Linear(4, 6, bias=False)
        self.batch, self.layer, self.group = nn.BatchNorm1d(6), nn.LayerNorm(6), nn.GroupNorm(2, 6)
        self.out = nn.Linear(6, 3)

    def forward(self, x):
        with torch.autocast("cpu", dtype=self.dtype):
            y = self.batch(self.enter(x))
            return self.out(self.group(torch.relu(self.layer(y)))).float()


class RMSNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


def rotate_half(x):
    a, b = x.chunk(2, -1)
    return torch.cat([-b, a], -1)


class Llama(nn.Module):
    """RMSNorm, rotary positions, queries in groups, SwiGLU."""

    def __init__(self, d=8, heads=4, kv=2, words=11):
        super().__init__()
        self.tok, self.norm1, self.norm2 = nn.Embedding(words, d), RMSNorm(d), nn.RMSNorm(d)
        self.q = nn.Linear(d, d, bias=False)
        self.k, self.v = nn.Linear(d, d // 2, bias=False), nn.Linear(d, d // 2, bias=False)
        self.o = nn.Linear(d, d, bias=False)
        self.gate, self.up = nn.Linear(d, 12, bias=False), nn.Linear(d, 12, bias=False)
        self.down, self.head = nn.Linear(12, d, bias=False), nn.Linear(d, words, bias=False)
        self.heads, self.kv, self.size = heads, kv, d // heads

    def forward(self, ids):
        x = self.tok(ids)
        b, t, d = x.shape
        y = self.norm1(x)
        q = self.q(y).view(b, t, self.heads, -1).transpose(1, 2)
        k = self.k(y).view(b, t, self.kv, -1).transpose(1, 2)
        v = self.v(y).view(b, t, self.kv, -1).transpose(1, 2)
        frequency = 1.0 / (100 ** (torch.arange(0, self.size, 2).float() / self.size))
        angle = torch.outer(torch.arange(t).float(), frequency)
        angle = torch.cat([angle, angle], -1)
        q = q * angle.cos() + rotate_half(q) * angle.sin()
        k = k * angle.cos() + rotate_half(k) * angle.sin()
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.o(y.transpose(1, 2).reshape(b, t, d))
        y = self.norm2(x)
        return self.head(x + self.down(F.silu(self.gate(y)) * self.up(y)))


class GraphNet(nn.Module):
    """Messages along edges, added up where they arrive; softmax by node."""

    def __init__(self):
        super().__init__()
        self.w, self.a = nn.Linear(6, 6), nn.Linear(12, 1)

    def forward(self, x, src, dst):
        h = self.w(x)
        e = F.leaky_relu(self.a(torch.cat([h[src], h[dst]], -1)), 0.2).squeeze(-1).exp()
        total = torch.zeros(x.shape[0]).index_add(0, dst, e)
        m = (e / total[dst].clamp_min(1e-6))[:, None] * h.index_select(0, src)
        out = torch.zeros_like(h).scatter_add(0, dst[:, None].expand(-1, 6), m)
        return F.normalize(out + h, dim=1)


class MixtureOfExperts(nn.Module):
    """The two best of four experts for each token."""

    def __init__(self, d=6):
        super().__init__()
        self.router = nn.Linear(d, 4, bias=False)
        self.up = nn.Parameter(torch.randn(4, d, 8) * 0.3)
        self.down = nn.Parameter(torch.randn(4, 8, d) * 0.3)

    def forward(self, x):
        weight, chosen = self.router(x).softmax(-1).topk(2, -1)
        weight = weight / weight.sum(-1, keepdim=True)
        every = torch.einsum(
            "neh,ehd->ned", F.silu(torch.einsum("nd,edh->neh", x, self.up)), self.down
        )
        picked = torch.gather(every, 1, chosen[..., None].expand(-1, -1, x.shape[-1]))
        return (picked * weight[..., None]).sum(1)


class Indexing(nn.Module):
    """Advanced indices, writes in place, where, gather, cumsum, topk."""

    def __init__(self):
        super().__init__()
        self.e, self.q = nn.Embedding(20, 8), nn.Parameter(torch.randn(8, 8))

    def forward(self, ids, mask):
        x = self.e(ids)
        y = torch.einsum("bij,jk->bik", x, self.q).masked_fill(mask[..., None], 0.0)
        z = y.clone()
        z[:, 0] = 1.0
        z[torch.arange(2), torch.tensor([1, -2])] += 2.0
        z[..., 2:4] *= 0.5
        picked = z[:, torch.tensor([0, 3]), 1:]
        v, i = (z + 0.01 * torch.arange(6)[:, None]).topk(3, dim=1)
        g = torch.gather(z, 1, i)
        s = torch.zeros_like(z).scatter_add(1, i, v)
        w = torch.where(s > 0, s.abs().sqrt(), s)
        top = z.max(-1).values.sum() + z.amax((0, 2)).prod().tanh() + z.var(1).sum()
        return (g.cumsum(1).sum() + w.sum() + x[:, 1:, ::2].std() + picked.sin().sum() + top)[None]


class Losses(nn.Module):
    """Every loss, of two linear layers."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(5, 4), nn.Linear(5, 4)

    def forward(self, x, labels, kept):
        a, b = self.a(x), self.b(x)
        weight = torch.tensor([1.0, 0.5, 2.0, 1.5])
        p = b.softmax(-1)
        found = [
            F.cross_entropy(a, labels), F.cross_entropy(a, labels, weight),
            F.cross_entropy(a, kept, ignore_index=-100), F.cross_entropy(a, p),
            F.cross_entropy(a, labels, label_smoothing=0.1),
            F.cross_entropy(a.view(2, 4, 3), labels.view(2, 3)),
            F.nll_loss(F.log_softmax(a, 1), labels), F.mse_loss(a, b), F.l1_loss(a, b),
            F.smooth_l1_loss(a, b, beta=0.5), F.huber_loss(a, b, delta=0.4),
            F.binary_cross_entropy(a.sigmoid(), p),
            F.binary_cross_entropy_with_logits(a, p, pos_weight=weight),
            F.kl_div(F.log_softmax(a, 1), p, reduction="batchmean"),
            1 - F.cosine_similarity(a, b).mean(), F.soft_margin_loss(a, b.detach().sign()),
        ]  # fmt: skip
        return torch.stack(found)


class Margins(nn.Module):
    """Losses with margins and distances, of three linear layers, one of which is of counts."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(5, 4), nn.Linear(5, 4), nn.Linear(5, 4)

    def forward(self, x, classes, signs, counts):
        a, b, c = self.a(x), self.b(x), self.c(x)
        weight = torch.tensor([1.0, 0.5, 2.0, 1.5])
        several = torch.tensor(
            [
                [0, 2, -1, 1],
                [3, -1, -1, -1],
                [1, 0, 2, -1],
                [-1, 2, 1, 0],
                [0, 1, 2, 3],
                [2, 2, -1, 0],
            ]
        )
        found = [
            F.triplet_margin_loss(a, b, c), F.triplet_margin_loss(a, b, c, 0.7, 1, swap=True),
            F.triplet_margin_loss(a, b, c, p=3, reduction="sum"),
            F.triplet_margin_with_distance_loss(a, b, c),
            F.cosine_embedding_loss(a, b, signs, 0.1),
            F.margin_ranking_loss(a[:, 0], b[:, 0], signs, 0.1),
            F.hinge_embedding_loss(a[:, 0], signs, 0.4),
            F.multi_margin_loss(a, classes), F.multi_margin_loss(a, classes, 2, 0.8, weight),
            F.multilabel_margin_loss(a, several),
            F.multilabel_margin_loss(a[0], several[0], reduction="sum"),
            F.multilabel_soft_margin_loss(a, b.detach().gt(0).float()),
            F.poisson_nll_loss(c, counts), F.poisson_nll_loss(c.exp(), counts, False, full=True),
            F.pairwise_distance(a, b, keepdim=True).mean(), torch.cdist(a, b).mean(),
            torch.cdist(a.view(2, 3, 4), b.view(2, 3, 4), 1.0).mean(),
            torch.linalg.vector_norm(a.relu(), 2.5, -1).mean(),
            torch.hypot(a, b).mean(), torch.logaddexp(a, b).mean(), torch.xlogy(c, a.exp()).mean(),
            torch.hstack([a, b]).sin().mean(), torch.vstack([a[0], b]).sin().mean(),
            torch.column_stack([a[:, 0], b]).sin().mean(),
            torch.nanmean(torch.where(a > 0, a, torch.nan)),
            torch.nansum(torch.where(a > 0, a, torch.nan)),
        ]  # fmt: skip
        return torch.stack(found)


class Steps(nn.Module):
    """Where a slope is none: steps, 0 to the 0, an angle of nothing, targets that are ignored."""

    def __init__(self):
        super().__init__()
        self.l = nn.Linear(4, 4)

    def forward(self, x):
        h = self.l(x)
        half, other = h.relu()[:, :2], h.relu()[:, 2:]
        found = [
            h.round(), h.floor(), h.ceil(), h.trunc(), h.round(decimals=1), h.frac(),
            torch.div(h, h.detach() + 3, rounding_mode="floor"),
            torch.div(h, 0.3, rounding_mode="trunc"),
            h.relu() ** 0, h.relu()[..., None] ** torch.tensor([0.0, 1.0, 2.0]),
            torch.atan2(half, other), torch.linalg.vector_norm(half * 0, dim=-1),
        ]  # fmt: skip
        ignored = F.cross_entropy(h, torch.full((len(x),), -100))
        return sum(one.sin().sum() for one in found) + ignored.nan_to_num()


# -- every operation -------------------------------------------------------------------------------


def total(parts, scale=1.0):
    """One number of many tensors, that hangs on each element of each in another way."""
    found = torch.zeros(())
    for i, part in enumerate(parts):
        x = part.to(torch.float32) if not part.is_floating_point() else part.float()
        found = found + (x * (0.3 + 0.1 * i)).sin().mean() * scale
    return found[None]


class Elementwise(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Parameter(torch.randn(3, 4)), nn.Parameter(torch.rand(4) + 0.5)

    def forward(self, x, n):
        a, b = self.a * x, self.b
        unit, above = a.sigmoid() * 0.9 + 0.05, a.abs() + 1.1
        return total([
            F.relu6(a * 4), F.celu(a, 0.7), F.selu(a), F.softsign(a), F.logsigmoid(a),
            F.threshold(a, 0.1, -1.0), F.glu(a), F.softplus(a, beta=2.0, threshold=1.0), F.elu(a),
            unit.acos(), above.acosh(), unit.asin(), a.asinh(), a.atan(), unit.atanh(), a.ceil(),
            a.cosh(), above.digamma(), a.erf(), a.erfc(), unit.erfinv(), a.expm1(), a.floor(),
            above.lgamma(), above.log1p(), a.sgn(), a.sinh(), a.square(), unit.tan(), a.trunc(),
            above.log2(), above.log10(), a.exp2(), a.frac(), unit.logit(), unit.logit(0.2),
            torch.maximum(a, b), torch.minimum(a, b), torch.atan2(a, b), torch.div(a, b),
            torch.div(a, b, rounding_mode="floor"), torch.div(a, b, rounding_mode="trunc"),
            torch.floor_divide(n, 3), torch.remainder(a, b), torch.remainder(n, 3),
            torch.fmod(a, b), torch.addcmul(a, a, b, value=0.3), torch.addcdiv(a, a, b),
            torch.lerp(a, a + b, 0.3), torch.lerp(a, a + b, unit), a.clamp(max=0.5), a.clamp(-1, 1),
            torch.clamp(a, min=-b, max=b), torch.nan_to_num(a / a.round(), 0.5, 2.0, -2.0),
            a ** 3, above ** b, 2.0 ** a, above ** -1, above.rsqrt(), 1 - a, torch.rsub(a, b),
            n / 2, n + 0.5, n * a, n - 1, a.sub(b, alpha=0.5), 3 / above, above.reciprocal(),
            a.new_full((2,), 3.0) * a[0, 0], torch.full_like(a, 2) * b, torch.eye(4) * b,
            torch.ones_like(a) * b, a.type_as(b), a.to(torch.float64) * 2, +a, a.tan().tanh(),
            torch.where(a > 0, a, 0.3), n.double() * b, a.float().to(torch.float16).float(),
        ], 0.5)  # fmt: skip


class Logic(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.randn(3, 4))

    def forward(self, x, n, m):
        a = self.a
        p, q = a > 0, x > 0
        bits = [n & 3, n | 4, n ^ 5, ~n, p & q, p | q, p ^ q, ~p, torch.logical_and(n, q),
                torch.logical_or(n, p), torch.logical_xor(n, q), torch.logical_not(n),
                torch.bitwise_and(n, m), a.isnan(), (a / 0).isinf(), a.isfinite(), a == a, n != m,
                n <= m, p.any(), p.all(1), n.eq(2), a.ge(x), p < q, torch.ones(3).bool().all()]  # fmt: skip
        chosen = [
            torch.where(b.bool(), a, a * 0.5) if b.shape == a.shape else b * a.sum() for b in bits
        ]
        return total([*bits, *chosen, a.masked_fill(q, 2.0), torch.fill(a, 0.5) * a])


class Shapes(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.v = nn.Parameter(torch.randn(2, 3, 4)), nn.Parameter(torch.randn(6))

    def forward(self, i):
        a, v = self.a, self.v
        m = a[0]
        x, y = torch.meshgrid(v[:2], v[2:5], indexing="ij")
        put = torch.zeros(3, 4).scatter(1, i, m)
        return total([
            a.reshape(4, 6), a.flatten(1), a.unflatten(2, (2, 2)), a.swapaxes(0, 2), m.t(), m.mT,
            a.movedim(0, -1), v.broadcast_to(2, 6), v.expand_as(torch.ones(3, 6)), a.repeat(1, 2, 1),
            m.repeat_interleave(2, 0), v.tile(2), a.triu(1), a.tril(), a.diagonal(0, 1, 2),
            m.diagonal(1), F.pixel_shuffle(a.reshape(1, 4, 3, 2), 2), v.unfold(0, 3, 2), a.flip(0, 2),
            a.roll(1), a.roll((1, -1), (0, 2)), *a.chunk(2, 2), *torch.tensor_split(v, 4),
            a.narrow(2, 1, 2), F.pad(a, (1, 2)), F.pad(a, (2, 1), mode="reflect"),
            F.pad(a, (1, 1), mode="replicate"), F.pad(a, (1, 2), mode="circular"),
            F.pad(a, (-1, 2, 1, -1), value=0.5), x, y, torch.cat([m, m * 2], 1), torch.stack([v, v], 1),
            torch.take_along_dim(m, i, 1), put, torch.zeros(3, 4).scatter(1, i, 2.0) * m,
            m.index_copy(0, torch.tensor([2, 0]), m[:2] * 3), m[m > 0], m.masked_select(m < 0.5),
            F.one_hot(i, 5) * v[0], torch.atleast_2d(v), v.view(2, 3).contiguous(), a.unbind(1)[2],
            torch.outer(v, v[:3]), torch.dot(v, v), m @ v[:4], v[:3] @ m, a @ v[:4],
            torch.einsum("bij,bkj->bik", a, a), torch.addmm(m[:, :3], m, m.t()), a @ a.mT,
            torch.baddbmm(a[:, :, :3], a, a.mT, beta=0.5, alpha=2.0), v[1:5:2], v[-2:], v[torch.tensor([-1, 0])],
            m[torch.tensor([[0], [2]]), torch.tensor([1, 3])], a[:, torch.tensor([0, 2]), torch.tensor([1, 3])],
            a[torch.tensor([0, 1]), :, torch.tensor([1, 3])], torch.diff(v), torch.diff(v, 2, prepend=v[:1]),
            F.interpolate(a[None], scale_factor=2, mode="nearest-exact"), torch.trace(m), a.squeeze(), v[:, None],
        ])  # fmt: skip


class Reductions(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.randn(3, 4, 2))

    def forward(self):
        a = self.a
        positive = a.abs() + 0.1
        v, i = a.sort(1, descending=True)
        w, j = a.min(0)
        var, mean = torch.var_mean(a, (0, 2))
        std, middle = torch.std_mean(a, 1, correction=0)
        low, k = a.topk(2, 1, largest=False)
        return total([
            a.sum(), a.sum((0, 2), keepdim=True), a.mean(1), a.prod(2), a.amin((0, 1)), a.amax(2),
            a.min(), a.max(), a.logsumexp(1), a.logsumexp((0, 2), True), a.var(), a.std(1), v, i, w, j, var, mean,
            std, middle, a.norm(), a.norm(1, 2), torch.linalg.vector_norm(a, float("inf"), 1), positive.cumprod(1),
            a.cumsum(0), a.logcumsumexp(2), (a > 0).cumsum(1), torch.count_nonzero(a > 0, 1), a.argmax(), a.argmax(1, True),
            a.argmin(2), a.argsort(1), low, k, F.softmax(a, 1), F.log_softmax(a, 0), F.softmax(a.double(), 2),
            F.cosine_similarity(a, positive, 1), F.normalize(a, 2, 0), F.layer_norm(a, (4, 2)), a.median(),
            F.gumbel_softmax(a, dim=1), F.softmin(a, 1), a[:, :, 0].norm(2, 1),
        ])  # fmt: skip


class Windows(nn.Module):
    """Convolutions and pools of one, two and three axes."""

    def __init__(self):
        super().__init__()
        self.c1, self.t1 = nn.Conv1d(4, 6, 3, 2, 1, groups=2), nn.ConvTranspose1d(6, 4, 4, 2, 1)
        self.c2 = nn.Conv2d(2, 4, (3, 2), (1, 2), (1, 0), dilation=(2, 1), padding_mode="circular")
        self.t2 = nn.ConvTranspose2d(4, 2, 3, 2, 1, output_padding=1, groups=2)
        self.c3 = nn.Conv3d(1, 2, 2, padding=1)

    def forward(self, x, y, z):
        a = self.c1(x)
        b = self.c2(y)
        return total([
            a, self.t1(a), b, self.t2(b), self.c3(z), F.max_pool1d(a, 2), F.avg_pool1d(a, 3, 2, 1),
            F.adaptive_avg_pool1d(a, 3), F.max_pool2d(b, (2, 1), ceil_mode=True), F.avg_pool2d(b, 2, divisor_override=3),
            F.adaptive_avg_pool2d(b, (3, None)), F.conv2d(y, self.c2.weight, padding="same"),
            F.interpolate(b, size=(5, 7), mode="bilinear", align_corners=True), F.max_pool2d(b, 3, 1, 1),
            F.lp_pool2d(b.abs() + 0.1, 2, 2), F.group_norm(b, 2), F.instance_norm(b), F.local_response_norm(b, 3),
        ])  # fmt: skip


class Evaluated(nn.Module):
    """Batch norm and dropout as they are when nothing is trained."""

    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.drop = nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.Dropout(0.5)
        self.flat, self.plain = (
            nn.BatchNorm1d(3, affine=False),
            nn.BatchNorm2d(3, track_running_stats=False),
        )
        self.bn.running_mean.normal_()
        self.bn.running_var.uniform_(0.5, 2)

    def forward(self, x):
        x = self.plain(self.drop(self.bn(self.conv(x)).relu()) + 1)
        return self.flat(x.mean((2, 3)))


class Drawn(nn.Module):
    """Numbers that are drawn while it runs."""

    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.randn(4, 3))

    def forward(self):
        a = self.a
        p = a.softmax(1)
        return total([
            a * torch.rand(4, 3), a + torch.randn(3), a * torch.rand_like(a), a * torch.randint(0, 5, (4, 3)),
            a[torch.randperm(4)], a * torch.bernoulli(p.detach()), a.gather(1, torch.multinomial(p.detach(), 2)),
            F.dropout(a, 0.3), F.alpha_dropout(a, 0.3), F.dropout1d(a[None], 0.5),
            a + torch.normal(torch.zeros(3), 1.0), a * torch.empty(3).exponential_(), a * torch.empty(3).uniform_(),
        ])  # fmt: skip


# -- what does not survive of itself ---------------------------------------------------------------


class Straight(torch.autograd.Function):
    """Rounds, and passes the gradient straight through."""

    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g


class Reversed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.scale = scale
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return -ctx.scale * g, None


class Linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.l, self.m = nn.Linear(4, 4), nn.Linear(4, 4)


class Detached(Linear):
    def forward(self, x):
        h = self.l(x)
        return self.m(h) * h.detach()


class NoGrad(Linear):
    def forward(self, x):
        with torch.no_grad():
            t = self.l(x) * 2
        return self.m(self.l(x)) - t


class OwnFunctions(Linear):
    def forward(self, x):
        return Reversed.apply(self.m(Straight.apply(self.l(x)) * 2), 0.5)


class Hooked(Linear):
    def forward(self, x):
        h = self.l(x)
        h.register_hook(lambda g: g * 2)
        return self.m(h)


class Checkpointed(Linear):
    def forward(self, x):
        h = torch.utils.checkpoint.checkpoint(self.l, x, use_reentrant=False)
        return self.m(h.relu())


class ModuleHooked(Linear):
    """Hooks of modules: one only looks, the others change what goes back."""

    def __init__(self):
        super().__init__()
        self.l.register_full_backward_hook(lambda module, given, back: None)
        self.m.register_full_backward_pre_hook(lambda module, back: (back[0] * 3,))
        self.m.register_full_backward_hook(lambda module, given, back: (given[0] * 2,))

    def forward(self, x):
        return self.m(self.l(x).tanh())


class Reentrant(Linear):
    """Checkpoints with a backward of their own, one in the other; one that gives nothing back."""

    def forward(self, x):
        def again(f, x):
            return torch.utils.checkpoint.checkpoint(f, x, use_reentrant=True)

        h = again(lambda h: again(self.m, h.tanh()).sin() * 2, self.l(x))
        return self.m(h) + again(self.l, x)


class OddKeys(nn.Module):
    """Keys that are no names here; two that would be the same."""

    def __init__(self):
        super().__init__()
        keys = "a b", "a+b", "größe", "x:y"
        self.d = nn.ModuleDict({key: nn.Linear(4, 4) for key in keys})
        self.p = nn.ParameterDict({key: nn.Parameter(torch.randn(4)) for key in ("^", "a b")})
        self.d["größe"].register_buffer("n+1", torch.zeros(4))

    def forward(self, x):
        for layer in self.d.values():
            x = layer(x).tanh() + self.p["a b"]
        own = self.d["größe"].get_buffer("n+1")
        own += 1
        return x * self.p["^"] + own


class Cond(Linear):
    def forward(self, x):
        return torch.cond(x.sum() > 100, lambda x: self.l(x), lambda x: self.m(-x), (x,))


class WhileLoop(Linear):
    """A branch in a loop."""

    def forward(self, x):
        def body(i, h):
            h = torch.cond(h.sum() > 0, lambda h: torch.tanh(self.l(h)), lambda h: 1 - h / 2, (h,))
            return i + 1, h

        start = (torch.tensor(0), self.l(x).relu())
        return self.m(while_loop(lambda i, h: i < 4, body, start)[1])


class Scan(Linear):
    """A recurrent layer, last row first."""

    def forward(self, x):
        def step(h, row):
            h = torch.tanh(self.l(h) + row)
            return h, h * row

        last, rows = scan(step, torch.zeros(4), self.m(x), dim=0, reverse=True)
        return rows + last


class LoopDraws(Linear):
    """Dropout and noise in a loop; some of it in a branch that not every iteration takes."""

    def forward(self, x):
        def body(i, h):
            h = F.dropout(torch.tanh(self.l(h)), 0.4) + 0.1 * torch.randn_like(h)
            h = torch.cond(i % 2 == 0, lambda h: F.dropout(h, 0.3), lambda h: 2 * h, (h,))
            return i + 1, h

        return self.m(while_loop(lambda i, h: i < 5, body, (torch.tensor(0), x))[1])


class NestedLoops(Linear):
    """A loop in a loop, whose iterations grow in number, with dropout in the inner one."""

    def forward(self, x):
        def inner(j, h):
            return j - 1, F.dropout(torch.sin(self.l(h)), 0.25) + h / 2

        def outer(i, h):
            return i + 1, while_loop(lambda j, h: j > 0, inner, (i + 0, h))[1] * 1.5

        return self.m(while_loop(lambda i, h: i < 4, outer, (torch.tensor(0), x))[1])


class Branch(Linear):
    def forward(self, x):
        return self.l(x) if x.sum() > 100 else self.m(x)


class Item(Linear):
    def forward(self, x):
        return self.l(x) * x.max().item() + self.m(x)


class Selected(Linear):
    def forward(self, x):
        return self.m(self.l(x)[x.sum(1) > 0])


class Named(nn.Module):
    """Names that differ by their case, arguments by name, a buffer that no file keeps, and a loss
    that comes out."""

    def __init__(self):
        super().__init__()
        self.W, self.w = nn.Parameter(torch.randn(4, 4)), nn.Parameter(torch.randn(4))
        self.weight = nn.Linear(4, 4)
        self.register_buffer("t", torch.full((4,), 2.0), persistent=False)

    def forward(self, x, scale=2.0, *, bias=None):
        return (self.weight(x @ self.W) * self.t * scale + self.w + bias).pow(2).mean()


class Solved(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(4, 4)

    def forward(self, x):
        a = self.l.weight @ self.l.weight.T + 2 * torch.eye(4)
        y = torch.linalg.solve(a, x.T) + torch.linalg.inv(a) @ self.l(x).T
        return y + torch.linalg.cholesky(a) @ x.T * torch.linalg.det(a / 3)


class Partly(nn.Module):
    """A weight that nothing reads, and one whose gradient is 0."""

    def __init__(self):
        super().__init__()
        self.used, self.unused = nn.Linear(4, 4), nn.Linear(4, 4)
        self.before = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x):
        return self.used(self.norm(self.before(x)).relu())


@torch.library.custom_op("gradstep_tests::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


twice.register_fake(torch.empty_like)
twice.register_autograd(lambda ctx, g: g * 2)


class CustomOp(Linear):
    def forward(self, x):
        return self.m(twice(self.l(x)).tanh())


class HiddenRows(nn.Module):
    """Attention in which a query sees no key at all."""

    def __init__(self):
        super().__init__()
        self.p, self.m = nn.Linear(8, 24), nn.MultiheadAttention(8, 2, batch_first=True)
        seen = torch.ones(5, 5, dtype=torch.bool).tril()
        seen[0] = False
        self.register_buffer("seen", seen)

    def forward(self, x):
        q, k, v = (t.view(2, 5, 2, 4).transpose(1, 2) for t in self.p(x).chunk(3, -1))
        added = torch.zeros(5, 5).masked_fill(~self.seen, -torch.inf)
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=self.seen)
        b = F.scaled_dot_product_attention(q, k, v * 2, attn_mask=added)
        soft = torch.ops.aten._safe_softmax(self.p(x)[:, :, :5] + added, -1)
        mixed = (a + b).transpose(1, 2).reshape(2, 5, 8)
        return torch.cat([mixed + self.m(mixed, x, x)[0], soft], -1)


class Masks(nn.Module):
    """Attention whose masks are added, a row of which hides all: float32 keeps nothing of it."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)
        hidden = torch.zeros(3, 3, dtype=torch.bool)
        hidden[0, 2] = hidden[1] = True
        self.register_buffer("hidden", hidden)

    def forward(self, x):
        scores = self.q(x) @ self.k(x).transpose(-1, -2) / 2
        partly = self.hidden & torch.tensor([[True], [False], [True]])
        found = [
            scores + self.hidden * -1e9,
            scores + self.hidden.float() * torch.finfo(torch.float32).min,
            scores.masked_fill(self.hidden, -1e9),
            scores + torch.zeros(3, 3).masked_fill(partly, -torch.inf),
            scores.masked_fill(partly, -torch.inf),
        ]
        return torch.cat([torch.softmax(each, -1) @ self.v(x) for each in found], -1)


class WeightNormed(nn.Module):
    """Weights as a direction and a length: the old interface and parametrizations, by row and whole,
    and divided by their largest singular value as it stands."""

    def __init__(self):
        super().__init__()
        old, new = nn.utils.weight_norm, nn.utils.parametrizations.weight_norm
        self.a, self.b = old(nn.Linear(4, 6)), new(nn.Linear(6, 4), dim=1)
        self.c = new(nn.Conv1d(1, 2, 3, padding=1))
        self.d = old(nn.Linear(8, 3), dim=None)
        self.e = nn.utils.parametrizations.spectral_norm(nn.Linear(3, 3))

    def forward(self, x):
        y = self.b(self.a(x).tanh())
        return self.e(self.d(self.c(y[:, None]).flatten(1)).tanh())


class Bags(nn.Module):
    """Bags of words: by offsets and by rows, with a padding, weighted, and the largest of each."""

    def __init__(self):
        super().__init__()
        self.sum = nn.EmbeddingBag(9, 4, mode="sum", padding_idx=2)
        self.mean = nn.EmbeddingBag(9, 4, padding_idx=0)
        self.max = nn.EmbeddingBag(9, 4, mode="max", padding_idx=-1)
        self.plain = nn.EmbeddingBag(9, 4, include_last_offset=True)

    def forward(self, ids, offsets):
        flat, weights = ids.flatten(), self.plain.weight.flatten()[: ids.numel()]
        found = [
            self.sum(ids),
            self.sum(flat, offsets[:-1], per_sample_weights=weights),
            self.mean(ids),
            self.mean(flat, offsets[:-1]),
            self.max(ids),
            self.max(flat, offsets[:-1]),
            self.plain(flat, offsets),
        ]
        return torch.cat(found).tanh()


class FreeRows(nn.Module):
    """Any number of rows, and sizes that are made of it: words in bags, a grid for each image."""

    def __init__(self):
        super().__init__()
        self.c = nn.utils.parametrizations.weight_norm(nn.Conv2d(1, 2, 1))
        self.t, self.b = nn.Linear(1, 6), nn.EmbeddingBag(5, 3)

    def forward(self, x, words):
        moves = self.t(x.mean((1, 2, 3))[:, None]).view(-1, 2, 3)
        grid = F.affine_grid(moves, (x.shape[0], 2, 4, 4), align_corners=False)
        read = F.grid_sample(self.c(x), grid, align_corners=False).flatten(1).mean(1)
        return read + self.b(words).sum(1) * torch.arange(x.shape[0])


class Scatters(nn.Module):
    """What several write at one place, reduced: sums, products, means, largest and smallest."""

    def __init__(self):
        super().__init__()
        self.l = nn.Linear(4, 4)

    def forward(self, x, places):
        h, base = self.l(x), self.l.weight[:3] * 0.5 + 0.1
        tied = torch.cat([h[:2], h[:2], h[4:]])
        found = [
            base.scatter_reduce(0, places, y, how, include_self=own)
            for how in ("sum", "prod", "mean", "amax", "amin")
            for own in (True, False)
            for y in ((h, tied) if how.startswith("am") else (h,))
        ]
        found += [
            base.index_reduce(0, places[:, 0], h, how, include_self=own)
            for how in ("prod", "mean", "amax", "amin")
            for own in (True, False)
        ]
        rows, whole = torch.arange(3), torch.zeros(3, 4, dtype=torch.int64)
        each = rows[:, None].expand(3, 4)
        same = base.detach() + (h[:3] - h[:3].detach()) * 9
        counts = (h * 9).long()
        for how in ("amax", "amin"):  # what is equal to its own, which is left out
            found += [base.scatter_reduce(0, each, same, how, include_self=False)]
            found += [base.index_reduce(0, rows, same, how, include_self=False)]
            found += [whole.scatter_reduce(0, places, counts, how, include_self=False) * h[0]]
        zeros = torch.where(places == 1, 0.0, h)
        found += [base.scatter_reduce(0, places, zeros, "prod")]
        return torch.stack(found).tanh()


class Sampled(nn.Module):
    """Images read at computed places: between pixels and at the nearest, beyond the border too."""

    def __init__(self):
        super().__init__()
        self.l, self.t = (
            nn.Conv2d(2, 2, 1),
            nn.Parameter(torch.tensor([[1.1, 0.2, -0.3], [0.1, 0.8, 0.4]])),
        )

    def forward(self, x, places):
        y = self.l(x)
        moved = F.affine_grid(self.t.expand(2, 2, 3), (2, 2, 3, 4), align_corners=False)
        corners = F.affine_grid(self.t.expand(2, 2, 3), (2, 2, 3, 4), align_corners=True)
        pads, grids = ("zeros", "border", "reflection"), ((False, moved), (True, corners))
        found = [F.grid_sample(y, grid, "bilinear", beyond, align_corners=align)
                 for beyond in pads for align, grid in grids]  # fmt: skip
        for align, how in ((False, "nearest"), (True, "bicubic")):
            grid = grids[align][1]
            found += [F.grid_sample(y, grid, how, beyond, align_corners=align) for beyond in pads]
        ends = torch.tensor([-1.5, -1.0, -0.75, -0.5, 0.0, 0.25, 1.0, 1.25, 2.0])  # on pixels, too
        mesh = torch.stack(torch.meshgrid(ends, ends, indexing="ij"), -1).expand(2, 9, 9, 2)
        found += [F.grid_sample(y, mesh + 0 * self.t[0, 2], padding_mode=p, align_corners=a)
                  for p in pads for a in (False, True)]  # fmt: skip
        wild = places + self.t[0, 2]
        found += [F.grid_sample(y, wild, padding_mode=p, align_corners=a)
                  for p in ("border", "reflection") for a in (False, True)]  # fmt: skip
        return torch.cat([each.flatten(1) for each in found], 1)


class Volumes(nn.Module):
    """The same of volumes."""

    def __init__(self):
        super().__init__()
        self.l, self.t = nn.Conv3d(1, 2, 1), nn.Parameter(torch.eye(3, 4) * 0.9 + 0.15)

    def forward(self, x):
        grid = F.affine_grid(self.t[None], (1, 2, 2, 3, 2), align_corners=False)
        y = self.l(x)
        found = [F.grid_sample(y, grid, how, beyond, align_corners=align)
                 for how in ("bilinear", "nearest")
                 for beyond in ("zeros", "border") for align in (False, True)]  # fmt: skip
        return torch.cat(found, 1)


class Determinants(nn.Module):
    """Of one matrix and of several, of either sign."""

    def __init__(self):
        super().__init__()
        self.l = nn.Linear(4, 4)

    def forward(self, x):
        a = self.l.weight @ self.l.weight.T + torch.eye(4)
        several = torch.stack([a, self.l.weight + torch.diag(self.l.bias), a[[1, 0, 2, 3]]])
        sign, log = torch.linalg.slogdet(several)
        _, old = torch.slogdet(a)
        lines = (
            torch.diag(x[0], -1)[1:, :4] + torch.diag_embed(self.l.bias) + torch.diag(a, 1).sum()
        )
        lines = lines + torch.diag_embed(x[:, :3] * self.l.bias[:3], 1, 2, 0).sum(1)[:4]
        parts = [lines.sin().sum(), torch.logdet(a), torch.logdet(several[:1]).sum(), old,
                 torch.linalg.det(several).sum(), torch.det(a / 2), (sign * log).sum()]  # fmt: skip
        return self.l(x).mean() * torch.stack(parts)


class Medians(nn.Module):
    """Of all elements and along an axis; of several equal ones; without NaN; other ranks."""

    def __init__(self):
        super().__init__()
        self.l = nn.Linear(4, 6)

    def forward(self, x):
        h = self.l(x)
        tied = h.round(decimals=0) + 0 * h
        values, places = h.median(1)
        kept, _ = h.median(0, keepdim=True)
        holes = torch.where(h > 0.5, torch.nan, h)
        lowest, _ = torch.kthvalue(h, 2, 1)
        whole = (x * 1000).long()
        whole = torch.where(whole == whole.max(), torch.iinfo(torch.int64).min, whole)
        lost = torch.nan_to_num(holes.median(1).values).sum() + torch.nan_to_num(holes.median())
        counted = whole.median(1).values + whole.kthvalue(2, 1).values + whole.sort(1).values[:, 1]
        mode = torch.nanmedian(holes, 1).values
        parts = [h.median(), values.sum(), kept.sum(), torch.cat([h, h, h[:1]]).median(), tied.median(),
                 torch.nanmedian(holes), mode.sum(), lowest.sum(), h.sort(0).values[1].sum(),
                 torch.gather(h.tanh(), 1, places[:, None]).sum(),
                 lost, counted.float().sum() * h.mean(), h.quantile(0.3), h.quantile(0.5, 1).sum()]  # fmt: skip
        return torch.stack(parts).sin()


class ShortSums(nn.Module):
    """Numbers of Python that no short float has, and sums that go beyond all of float16."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.rand(64) + 0.5)
        self.norm = nn.LayerNorm(64)

    def forward(self, x):
        h = self.w * x
        wide = (h * 200.3).pow(2).clamp(max=40000)
        return torch.stack(
            [
                (h * 0.1).float().sum(),
                (h / 1e5).float().sum(),
                (h - 0.3).float().sum(),
                (1.7 - h).float().sum(),
                h.add(x, alpha=0.3).float().sum(),
                h.pow(1.3).float().sum(),
                torch.addcmul(h, h, x, value=0.7).float().sum(),
                wide.mean().float() * 1e-3,
                wide.mean(0).float() * 1e-3,
                (wide * 0.01).sum().float() * 1e-3,
                h.var().float(),
                (h * 100.1).norm().float(),
                h.logsumexp(0).float(),
                h.softmax(0).square().float().sum(),
                self.norm(h * 100).square().float().sum() * 0.01,
                h.cumsum(0).float().sum() * 1e-3,
                h[:9].prod().float(),
                F.gelu(h).float().sum(),
                h.std().float(),
            ]
        )


def scaled_loss(out):
    """As a GradScaler scales it."""
    return (out.half() * 0.01).mean() * 65536.0


def ids(rows=2, length=6, words=11):
    return torch.randint(1, words, (rows, length))


def classes(rows=2, count=4):
    return torch.randint(0, count, (rows,))


def cases():
    """name -> Case; each with random numbers of its own."""
    x4 = torch.randn(3, 4)
    return {
        "mlp": Case(lambda: nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4)),
                    torch.randn(3, 6), F.cross_entropy, classes(3)),
        "resnet18": Case(ResNet, images(2, 16), F.cross_entropy, classes()),
        "resnet50": Case(lambda: ResNet(Bottleneck), images(2, 16), F.cross_entropy, classes()),
        "mobilenet_v3": Case(MobileNetV3, images(3), F.cross_entropy, classes(3)),
        "efficientnet": Case(EfficientNet, images(3), F.cross_entropy, classes(3)),
        "densenet": Case(DenseNet, images(2, 6), F.cross_entropy, classes()),
        "vgg": Case(vgg, images(2, 10), F.cross_entropy, classes()),
        "vit": Case(VisionTransformer, images(), F.cross_entropy, classes()),
        "swin": Case(Swin, images(1), F.cross_entropy, classes(1, 3)),
        "convnext": Case(ConvNeXt, images(2, 6), F.cross_entropy, classes(2, 3)),
        "unet": Case(UNet, images(1, 8, 1)),
        "vae": Case(VAE, (v := torch.randn(3, 12)), vae_loss, v),
        "dcgan": Case(DCGAN, torch.randn(2, 5, 1, 1), F.binary_cross_entropy, torch.ones(2)),
        "diffusion_unet": Case(DiffusionUNet, (images(1, 6, 2), torch.tensor([7]))),
        "functional": Case(Functional, images(2, 9)),
        "lstm": Case(LSTM, ids(2, 4), F.cross_entropy, classes()),
        "gru": Case(GRU, torch.randn(2, 3, 4), F.cross_entropy, classes(2, 3)),
        "cell_loop": Case(CellLoop, torch.randn(2, 3, 4)),
        "transformer_encoder": Case(
            lambda: nn.TransformerEncoder(
                nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2, None, False),
            torch.randn(2, 4, 8)),
        "autocast": Case(lambda: Autocast(torch.bfloat16), torch.randn(5, 4)),
        "autocast_half": Case(lambda: Autocast(torch.float16), torch.randn(5, 4)),
        "twelve_layers": Case(
            lambda: nn.TransformerEncoder(
                nn.TransformerEncoderLayer(4, 2, 4, batch_first=True), 12, None, False),
            torch.randn(1, 3, 4)),
        "transformer_decoder": Case(CausalDecoder, (torch.randn(2, 4, 8), torch.randn(2, 3, 8))),
        "transformer": Case(lambda: nn.Transformer(8, 2, 1, 1, 16, batch_first=True),
                            (torch.randn(2, 4, 8), torch.randn(2, 3, 8)), train=False),
        "mha": Case(Attention, (torch.randn(2, 4, 8),
                                torch.tensor([[False] * 4, [False, False, True, True]]))),
        "gpt": Case(GPT, ids()),
        "llama": Case(Llama, ids()),
        "gnn": Case(GraphNet, (torch.randn(5, 6), torch.tensor([0, 1, 2, 4, 3]),
                               torch.tensor([1, 2, 3, 0, 0]))),
        "moe": Case(MixtureOfExperts, torch.randn(5, 6)),
        "indexing": Case(Indexing, (torch.randint(0, 20, (2, 6)), torch.rand(2, 6) > 0.7)),
        "losses": Case(Losses, (torch.randn(6, 5), classes(6),
                                torch.tensor([0, -100, 2, 1, -100, 3])),
                       lambda out: (out * torch.linspace(1, 2, 16)).sum()),
        "elementwise": Case(Elementwise, (torch.randn(3, 4), torch.arange(-5, 7).view(3, 4))),
        "logic": Case(Logic, (torch.randn(3, 4), torch.arange(12).view(3, 4) % 7,
                              torch.arange(12).view(3, 4) % 3)),
        "shapes": Case(Shapes, torch.tensor([[0, 2, 1, 3], [3, 2, 1, 0], [1, 0, 3, 2]])),
        "reductions": Case(Reductions, ()),
        "windows": Case(Windows, (torch.randn(2, 4, 9), torch.randn(2, 2, 6, 7),
                                  torch.randn(1, 1, 3, 4, 3))),
        "evaluated": Case(Evaluated, torch.randn(2, 2, 5, 5), train=False),
        "drawn": Case(Drawn, ()),
        "core_resnet": Case(ResNet, images(2, 16), F.cross_entropy, classes(), core=True),
        "core_evaluated": Case(Evaluated, torch.randn(2, 2, 5, 5), train=False, core=True),
        "core_gpt": Case(GPT, ids(), core=True),
        "core_functional": Case(Functional, images(2, 9), core=True),
        "core_windows": Case(Windows, (torch.randn(2, 4, 9), torch.randn(2, 2, 6, 7),
                                       torch.randn(1, 1, 3, 4, 3)), core=True),
        "core_losses": Case(Losses, (torch.randn(6, 5), classes(6),
                                     torch.tensor([0, -100, 2, 1, -100, 3])),
                            lambda out: (out * torch.linspace(1, 2, 16)).sum(), core=True),
        "core_reductions": Case(Reductions, (), core=True),
        "core_llama": Case(Llama, ids(), core=True),
        "detach": Case(Detached, x4),
        "no_grad": Case(NoGrad, x4),
        "own_functions": Case(OwnFunctions, x4),
        "hook": Case(Hooked, x4),
        "checkpoint": Case(Checkpointed, x4),
        "module_hooks": Case(ModuleHooked, x4),
        "reentrant": Case(Reentrant, x4),
        "odd_keys": Case(OddKeys, x4),
        "cond": Case(Cond, x4),
        "while_loop": Case(WhileLoop, x4),
        "scan": Case(Scan, x4),
        "loop_draws": Case(LoopDraws, x4),
        "nested_loops": Case(NestedLoops, x4),
        "branch": Case(Branch, x4),
        "item": Case(Item, x4),
        "selected": Case(Selected, x4),
        "names": Case(Named, {"x": x4, "bias": torch.randn(4)}, lambda out: out),
        "solved": Case(Solved, x4),
        "hidden_rows": Case(HiddenRows, torch.randn(2, 5, 8)),
        "half_sums": Case(lambda: ShortSums().half(), torch.rand(64).half() + 0.5, scaled_loss),
        "bfloat16_sums": Case(lambda: ShortSums().bfloat16(), torch.rand(64).bfloat16() + 0.5,
                              scaled_loss),
        "bfloat16": Case(lambda: Detached().to(torch.bfloat16), x4.bfloat16()),
        "partly": Case(Partly, x4),
        "custom_op": Case(CustomOp, x4),
        "dynamic_batch": Case(lambda: nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)),
                              x4, F.cross_entropy, classes(3, 2), dynamic_shapes="batch"),
        "margins": Case(Margins, (torch.randn(6, 5), classes(6),
                                  torch.tensor([1, -1, 1, -1, -1, 1]),
                                  torch.tensor([0.0, 1.0, 3.0, 7.0])),
                        lambda out: (out * torch.linspace(1, 2, 26)).sum()),
        "steps": Case(Steps, torch.randn(5, 4), lambda out: out),
        "free_rows": Case(FreeRows, (torch.randn(3, 1, 4, 4), torch.randint(0, 5, (3, 4))),
                          lambda out: out.sin().sum(), dynamic_shapes="batch"),
        "masks": Case(Masks, torch.randn(2, 3, 4)),
        "weight_norm": Case(WeightNormed, torch.randn(3, 4)),
        "bags": Case(Bags, (torch.tensor([[1, 2, 0, 5], [2, 2, 8, 3], [8, 4, 8, 1]]),
                            torch.tensor([0, 3, 3, 8, 12]))),
        "scatters": Case(Scatters, (torch.randn(5, 4),
                                    torch.tensor([[0, 1, 0, 2], [1, 1, 0, 0], [0, 2, 0, 1],
                                                  [1, 0, 0, 0], [0, 1, 0, 2]]))),
        "sampled": Case(Sampled, (torch.randn(2, 2, 4, 5), torch.randn(2, 3, 3, 2) * 1.5)),
        "volumes": Case(Volumes, torch.randn(1, 1, 3, 2, 4)),
        "determinants": Case(Determinants, x4),
        "medians": Case(Medians, torch.randn(5, 4)),
    }  # fmt: skip


class Picked(nn.Module):
    def __init__(self, model, pick):
        super().__init__()
        self.model, self.pick = model, pick

    def forward(self, **given):
        return getattr(self.model(**given), self.pick)


def hugging_face():
    """Hugging Face's own code, at tiny sizes."""
    import transformers as t

    given = {"input_ids": ids(2, 5)}
    both = {**given, "decoder_input_ids": ids(2, 4)}
    return {
        "hf_bert": Case(lambda: Picked(t.BertModel(t.BertConfig(
            vocab_size=12, hidden_size=8, num_hidden_layers=2, num_attention_heads=2,
            intermediate_size=12, max_position_embeddings=8)), "last_hidden_state"), given, train=False),
        "hf_gpt2": Case(lambda: Picked(t.GPT2LMHeadModel(t.GPT2Config(
            vocab_size=12, n_positions=8, n_embd=8, n_layer=2, n_head=2)), "logits"),
            {**given, "use_cache": False}, train=False),
        "hf_llama": Case(lambda: Picked(t.LlamaForCausalLM(t.LlamaConfig(
            vocab_size=12, hidden_size=8, intermediate_size=12, num_hidden_layers=2,
            num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=8)), "logits"),
            {**given, "use_cache": False}, train=False),
        "hf_t5": Case(lambda: Picked(t.T5ForConditionalGeneration(t.T5Config(
            vocab_size=12, d_model=8, d_kv=4, d_ff=12, num_layers=1, num_heads=2)), "logits"),
            {**both, "use_cache": False}, train=False),
    }  # fmt: skip
