#!/usr/bin/env python3
"""Exports small modules as users do and records how the modules themselves train.

  export.py [NAME..]                 the models of this folder
  export.py --families OUT [NAME..]  larger ones of transformers, timm and torchvision, which stay out of the tree

needs torch, transformers, timm, onnx and numpy (scripts/setup --dev); nothing here is needed to run the tests.
Writes into the folder of each model: model.onnx, data.npz (10 batches) and ref.json: 10 losses of the module in f64
under AdamW with weight decay, and its parameters' names and shapes; for some also parameters.npz: what these are after
the 10 steps, and those of another module of the class with the loss that it begins with. `test/module/run` judges dpc
by them.
"""
import contextlib
import copy
import json
import os
import sys
import warnings

import numpy as np
import onnx
import torch
from torch import nn
from torch.nn import functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
BATCH, STEPS, TOKENS, VOCABULARY = 4, 10, 6, 11
HOWS = {
    'default': dict(dynamo=True, external_data=False, verbose=False),
    'unoptimized': dict(dynamo=True, external_data=False, verbose=False, optimize=False),
    'torchscript': dict(dynamo=False, opset_version=17),
    'torchscript-training': dict(dynamo=False, opset_version=17, training=torch.onnx.TrainingMode.TRAINING,
                                 do_constant_folding=False),
}


class Tied(nn.Module):
    """A head tied to the embedding; equal biases and norms of several layers; a buffer equal to a norm's weight."""

    def __init__(self, has_buffer=True):
        super().__init__()
        self.tokens, self.norms = nn.Embedding(VOCABULARY, 8), nn.ModuleList(nn.LayerNorm(8) for _ in range(3))
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(2))
        self.head = nn.Linear(8, VOCABULARY, bias=False)
        self.head.weight = self.tokens.weight
        # TorchScript does not say which tensors are buffers.
        self.register_buffer('scale', torch.ones(8) if has_buffer else None)
        for layer in self.layers:
            nn.init.zeros_(layer.bias)

    def forward(self, ids):
        hidden = self.tokens(ids)
        for norm, layer in zip(self.norms, self.layers):
            change = torch.tanh(layer(norm(hidden)))
            hidden = hidden + (change if self.scale is None else change * self.scale)
        return self.head(self.norms[2](hidden))


class Lookups(nn.Module):
    """Tables looked up at places that the export knows, some twice; a token for every sample; a table whose rows move."""

    def __init__(self):
        super().__init__()
        self.tokens, self.types, self.places = nn.Embedding(VOCABULARY, 8), nn.Embedding(3, 8), nn.Embedding(9, 8)
        self.start, self.bias = nn.Parameter(torch.randn(1, 1, 8)), nn.Parameter(torch.randn(5, 2))
        self.head = nn.Linear(8, VOCABULARY)
        distance = torch.arange(3)[:, None] - torch.arange(3)
        self.register_buffer('distance', distance.flatten() + 2)

    def forward(self, ids):
        rows, tokens = ids.shape
        kinds = torch.zeros_like(ids)
        kinds[:, 4:] = 1
        hidden = self.tokens(ids) + self.types(kinds) + self.places(torch.arange(tokens) // 2)
        hidden = torch.cat([self.start.expand(rows, -1, -1), hidden], 1)
        bias = self.bias[self.distance].view(3, 3, 2).permute(2, 0, 1).unsqueeze(0)
        mixed = bias @ hidden[:, 1:].reshape(rows, 2, 3, 8)
        return self.head(torch.tanh(mixed.reshape(rows, tokens, 8) + hidden[:, :1]))


class Shifted(nn.Module):
    """Norms that scale by 1 + weight, as Gemma's; the decoder's weight is the encoder's transposed."""

    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.zeros(6))

        def forward(self, x):
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * (1.0 + self.weight)

    def __init__(self):
        super().__init__()
        self.encode, self.first, self.second = nn.Linear(12, 6), Shifted.Norm(), Shifted.Norm()
        self.third = Shifted.Norm()
        nn.init.normal_(self.third.weight, std=0.1)
        self.decoded, self.head = nn.Parameter(torch.zeros(12)), nn.Linear(12, 5)
        nn.init.zeros_(self.encode.bias)

    def forward(self, x):
        hidden = self.third(self.second(torch.tanh(self.first(self.encode(x)))))
        return self.head(torch.tanh(F.linear(hidden, self.encode.weight.t(), self.decoded)))


class Halved(nn.Module):
    """A module in bf16, as transformers loads models: its norms compute in f32 with 1 + weight, as Gemma's."""

    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.zeros(6))

        def forward(self, x):
            wide = x.float()
            return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6) * (1.0 + self.weight.float())).to(x.dtype)

    def __init__(self):
        super().__init__()
        self.encode, self.first, self.second, self.third = nn.Linear(12, 6), Halved.Norm(), Halved.Norm(), Halved.Norm()
        nn.init.normal_(self.third.weight, std=0.1)
        self.head = nn.Linear(6, 5)
        self.to(torch.bfloat16)

    def forward(self, x):
        hidden = torch.tanh(self.first(self.encode(x.to(self.encode.weight.dtype))))
        return self.head(self.third(torch.tanh(self.second(hidden))))


class Channels(nn.Module):
    """Norms of images: their scales and biases reshaped to channels, equal and merged with statistics; a
    convolution whose bias is 0."""

    def __init__(self):
        super().__init__()
        self.first, self.group = nn.Conv2d(3, 4, 3), nn.GroupNorm(2, 4)
        self.second, self.again = nn.Conv2d(4, 4, 3, padding=1), nn.GroupNorm(2, 4)
        self.rise, self.batch, self.head = nn.PReLU(4), nn.BatchNorm2d(4), nn.Linear(4, 5)
        nn.init.zeros_(self.first.bias)

    def forward(self, x):
        hidden = F.silu(self.group(self.first(x)))
        hidden = self.rise(self.again(self.second(hidden)))
        return self.head(self.batch(F.avg_pool2d(hidden, 2)).mean((2, 3)))


class Normed(nn.Module):
    """A BatchNorm that can be folded into the convolution in front of it."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.head = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Linear(4, 5)

    def forward(self, x):
        return self.head(F.relu(self.norm(self.conv(x))).mean((2, 3)))


class Cloned(nn.Module):
    """Layers that begin as copies of one, as nn.TransformerEncoder's."""

    def __init__(self):
        super().__init__()
        layer = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.LayerNorm(8))
        self.tokens, self.layers = nn.Embedding(VOCABULARY, 8), nn.ModuleList(copy.deepcopy(layer) for _ in range(3))
        self.head = nn.Linear(8, VOCABULARY)

    def forward(self, ids):
        hidden = self.tokens(ids)
        for layer in self.layers:
            hidden = hidden + layer(hidden)
        return self.head(hidden)


class Padded(nn.Module):
    """Tables with a row that gets no gradient where it is looked up; the head trains that row of one of them."""

    def __init__(self):
        super().__init__()
        self.tokens, self.kinds = nn.Embedding(VOCABULARY, 8, padding_idx=3), nn.Embedding(4, 8, padding_idx=-1)
        for table in self.tokens, self.kinds:
            nn.init.normal_(table.weight)

    def forward(self, ids):
        return F.linear(torch.tanh(self.tokens(ids) + self.kinds(ids % 4)), self.tokens.weight)


class Frequent(nn.Module):
    """Tables whose gradients are divided by how often a row is read; one has a row without a gradient too."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, 8, scale_grad_by_freq=True)
        self.kinds = nn.Embedding(4, 8, padding_idx=2, scale_grad_by_freq=True)
        self.head = nn.Linear(8, VOCABULARY)

    def forward(self, ids):
        return self.head(torch.tanh(self.tokens(ids) + self.kinds(ids % 4)))


class Named(nn.Module):
    """Parameters named as functions, inputs and numbers of a training program are."""

    def __init__(self):
        super().__init__()
        self.encode, self.infer = nn.Linear(12, 6), nn.Linear(6, 5)
        self.step, self.seed, self.label = (nn.Parameter(torch.rand(6) + 0.5) for _ in range(3))
        self.register_buffer('valid_rows', torch.rand(6))

    def forward(self, x):
        hidden = torch.round(self.encode(x) * self.step * 4) / 4 + self.encode(x) * self.seed
        return self.infer(torch.tanh(hidden * self.valid_rows + self.label))


class Hidden(nn.Module):
    """Attention with a mask of numbers, which hides every key of some samples: PyTorch gives 0 there."""

    def __init__(self):
        super().__init__()
        self.tokens, self.project, self.head = nn.Embedding(VOCABULARY, 8), nn.Linear(8, 24), nn.Linear(8, VOCABULARY)

    def forward(self, ids):
        hidden = self.tokens(ids)
        query, key, value = (each.view(*ids.shape, 2, 4).transpose(1, 2) for each in self.project(hidden).chunk(3, -1))
        mask = torch.zeros(ids.shape, dtype=hidden.dtype).masked_fill(ids == 0, float('-inf'))
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=mask[:, None, None])
        return self.head(hidden + mixed.transpose(1, 2).reshape(hidden.shape))


class Detached(nn.Module):
    """Rounding and a choice that gradients pass straight through; a part and a scale that are read without a gradient."""

    def __init__(self):
        super().__init__()
        self.encode, self.choose, self.head = nn.Linear(12, 6), nn.Linear(6, 6), nn.Linear(6, 5)
        self.scale = nn.Parameter(torch.rand(6))

    def forward(self, x):
        hidden = self.encode(x)
        code = hidden + (torch.round(hidden) - hidden).detach()
        soft = torch.softmax(self.choose(code), -1)
        hard = (soft == soft.amax(-1, keepdim=True)).to(soft.dtype)
        choice = hard - soft.detach() + soft
        return self.head(choice * code + torch.tanh(hidden.detach()) * self.scale.detach() + hidden * self.scale)


class Copied(nn.Module):
    """A detached copy: of both calls a reader names the last one alone."""

    def __init__(self):
        super().__init__()
        self.encode, self.head = nn.Linear(12, 6), nn.Linear(6, 5)

    def forward(self, x):
        hidden = self.encode(x)
        return self.head(hidden * torch.sigmoid(hidden.detach().clone()))


class Weighted(nn.Module):
    """Parameters that the call itself weighs: the file has the product."""

    def __init__(self):
        super().__init__()
        self.encode, self.head, self.extra = nn.Linear(12, 6), nn.Linear(6, 5), nn.Parameter(torch.rand(6))

    def forward(self, x):
        return self.head(torch.tanh(torch.add(self.encode(x), self.extra, alpha=0.1)))


class Likened(nn.Module):
    """Numbers in the shape of a parameter, which have nothing else of it."""

    def __init__(self):
        super().__init__()
        self.encode, self.head, self.scale = nn.Linear(12, 6), nn.Linear(6, 5), nn.Parameter(torch.rand(6))

    def forward(self, x):
        hidden = self.encode(x) * self.scale + torch.ones_like(self.scale) * 0.3
        return self.head(torch.tanh(hidden + torch.full_like(self.scale, 0.2) + self.scale.new_zeros(6)))


class Twins(nn.Module):
    """Equal parameters of one module by which one value is multiplied: the default exporter merges the products, and
    what follows both."""

    def __init__(self, follows=False):
        super().__init__()
        self.encode, self.head, self.other, self.follows = nn.Linear(12, 6), nn.Linear(6, 5), nn.Linear(6, 5), follows
        self.first, self.second = nn.Parameter(torch.full((6,), 0.5)), nn.Parameter(torch.full((6,), 0.5))

    def forward(self, x):
        hidden = self.encode(x)
        first, second = hidden * self.first, hidden * self.second
        if self.follows:
            first, second = torch.tanh(first), torch.tanh(second)
        return self.head(first) + torch.sigmoid(self.other(second))


class Quantized(nn.Module):
    """Two losses that differ in what they detach alone: the default exporter merges them to one."""

    def __init__(self):
        super().__init__()
        self.encode, self.codes, self.head = nn.Linear(12, 6), nn.Linear(6, 6), nn.Linear(6, 5)

    def forward(self, x):
        hidden = self.encode(x)
        code = self.codes(torch.sign(hidden))
        commit = (code.detach() - hidden).pow(2).mean(-1, keepdim=True)
        follow = (code - hidden.detach()).pow(2).mean(-1, keepdim=True)
        return self.head(hidden + (code - hidden).detach()) * torch.exp(-0.1 * commit) * torch.exp(-follow)


class Centred(nn.Module):
    """A running centre, codes that follow what is coded by them, a counter, and a spectral norm: buffers that forward()
    updates, each in its own way."""

    def __init__(self):
        super().__init__()
        self.encode, self.head = nn.Linear(12, 6), nn.utils.parametrizations.spectral_norm(nn.Linear(6, 5))
        self.register_buffer('centre', torch.zeros(6))
        self.register_buffer('codes', torch.randn(4, 6))
        self.register_buffer('count', torch.tensor(0))

    def forward(self, x):
        hidden = torch.tanh(self.encode(x))
        nearest = (hidden.unsqueeze(1) - self.codes).pow(2).sum(-1).argmin(-1)
        chosen = F.one_hot(nearest, 4).to(hidden.dtype)
        with torch.no_grad():
            self.count += 1
            self.centre.mul_(0.75).add_(hidden.mean(0), alpha=0.25)
            self.codes.mul_(0.875).add_(chosen.t() @ hidden / (chosen.sum(0).unsqueeze(1) + 1), alpha=0.125)
        code = chosen @ self.codes
        return self.head(hidden + (code - hidden).detach() - self.centre) + hidden[:, :5] / self.count


class Trailing(nn.Module):
    """A slow copy of a weight, a buffer: the addition that moves it reads the weight, and the weight's type."""

    def __init__(self):
        super().__init__()
        self.encode, self.guess, self.head = nn.Linear(12, 6), nn.Linear(6, 6), nn.Linear(6, 5)
        self.register_buffer('target', self.encode.weight.detach() + 0.1)

    def forward(self, x):
        with torch.no_grad():
            self.target.mul_(0.875).add_(self.encode.weight, alpha=0.125)
        hidden = self.encode(x)
        distance = (self.guess(hidden) - F.linear(x, self.target).detach()).pow(2).mean(-1, keepdim=True)
        return self.head(hidden) * torch.exp(-0.1 * distance)


class Clamped(nn.Module):
    """A weight that forward() itself sets."""

    def __init__(self):
        super().__init__()
        self.encode, self.head = nn.Linear(12, 6), nn.Linear(6, 5)

    def forward(self, x):
        with torch.no_grad():
            self.encode.weight.clamp_(-0.2, 0.2)
        return self.head(torch.tanh(self.encode(x)))


class Reported(nn.Module):
    """A centre that is updated after its use: only what forward() returns is in the file."""

    def __init__(self, returns=True):
        super().__init__()
        self.encode, self.head, self.returns = nn.Linear(12, 6), nn.Linear(6, 5), returns
        self.register_buffer('centre', torch.ones(6))

    def forward(self, x):
        hidden = self.encode(x)
        logits = self.head(hidden - self.centre)
        self.centre = (self.centre * 0.75 + hidden.mean(0) * 0.25).detach()
        return (logits, self.centre) if self.returns else logits


class Guarded(nn.Module):
    """A small addend under a root that is 0 for one of the distances; the default exporter drops it."""

    def __init__(self):
        super().__init__()
        self.encode, self.head = nn.Linear(12, 6), nn.Linear(6, 5)

    def forward(self, x):
        hidden = self.encode(x)
        distance = torch.sqrt((hidden.unsqueeze(1) - hidden[:1]).pow(2).sum(-1) + 1e-12)
        return self.head(hidden * 1.0 + distance)


class Bounded(nn.Module):
    """A factor that keeps a probability from 1, where its logit is infinite; the default exporter drops it."""

    def __init__(self):
        super().__init__()
        self.encode, self.head = nn.Linear(12, 6), nn.Linear(6, 5)

    def forward(self, x):
        return self.head(torch.logit(torch.sigmoid(self.encode(x)) * (1 - 1e-7)))


class Masked(nn.Module):
    """A mask that is drawn at each step; the default exporter draws it once."""

    def __init__(self):
        super().__init__()
        self.encode, self.head = nn.Linear(12, 6), nn.Linear(6, 5)

    def forward(self, x):
        hidden = torch.tanh(self.encode(x))
        return self.head(hidden * torch.bernoulli(torch.full((hidden.shape[0], 1), 0.8)) / 0.8)


class Oriented(nn.Module):
    """Raw parameters that the module transposes, some of them square, or gives another shape; a matrix that is its own
    transposed one; a bilinear form; scales and shifts."""

    def __init__(self):
        super().__init__()
        def make(*shape):
            return nn.Parameter(torch.randn(*shape) * 0.4)
        self.wide, self.square, self.back, self.late = make(6, 12), make(6, 6), make(6, 6), make(6, 5)
        self.own = nn.Parameter(torch.eye(6))
        self.gamma, self.shift, self.rows = make(6), make(6), make(6, 6)
        self.pairs = nn.Bilinear(6, 5, 5)

    def forward(self, x):
        hidden = torch.tanh(x @ self.wide.T)
        hidden = hidden + torch.tanh(hidden @ self.square.t()) @ self.back.transpose(0, 1)
        hidden = torch.tanh(hidden @ self.own) @ self.own.T
        hidden = hidden * self.gamma.reshape(1, -1) + self.shift[None]
        hidden = (torch.tanh(hidden.unsqueeze(1)) @ self.rows.T.unsqueeze(0)).squeeze(1)
        late = F.linear(hidden.unsqueeze(1), self.late.T).squeeze(1)
        return self.pairs(hidden, torch.tanh(late))


class Scaled(nn.Module):
    """A ConvNeXt block: a scale of channels that is reshaped; kernels of 1 x 1 and of one channel as matrices."""

    def __init__(self):
        super().__init__()
        self.gamma, self.mix = nn.Parameter(torch.rand(4)), nn.Parameter(torch.randn(4, 3) * 0.4)
        self.own, self.shift = nn.Parameter(torch.randn(4, 3, 3) * 0.4), nn.Parameter(torch.randn(4) * 0.1)
        self.head = nn.Linear(4, 5)

    def forward(self, x):
        hidden = torch.tanh(F.conv2d(x, self.mix[:, :, None, None]) + self.shift[:, None, None])
        hidden = hidden + F.conv2d(hidden, self.own.unsqueeze(1), padding=1, groups=4) * self.gamma.reshape(1, -1, 1, 1)
        return self.head(torch.tanh(hidden).mean((2, 3)))


class Recurrent(nn.Module):
    """An LSTM of two layers and both directions and a GRU without biases, whose first states are trained; an LSTM whose
    first states are trained and equal; a plain RNN, and a cell."""

    def __init__(self):
        super().__init__()
        self.long, self.gated = nn.LSTM(4, 3, 2, batch_first=True, bidirectional=True), nn.GRU(6, 3, bias=False, batch_first=True)
        self.short, self.plain = nn.LSTM(3, 3, batch_first=True), nn.RNN(3, 4, bidirectional=True)
        self.cell, self.head = nn.GRUCell(8, 3), nn.Linear(3, 5)
        self.first, self.start = nn.Parameter(torch.randn(4, 1, 3) * 0.4), nn.Parameter(torch.randn(1, 1, 3) * 0.4)
        self.state, self.memory = nn.Parameter(torch.zeros(1, 1, 3)), nn.Parameter(torch.zeros(1, 1, 3))

    def forward(self, x):
        def start(state):
            return state.expand(-1, x.shape[0], -1)
        hidden = self.long(x.unflatten(1, (3, 4)), (start(self.first), x.new_zeros(4, x.shape[0], 3)))[0]
        hidden = self.gated(hidden, start(self.start))[0]
        hidden = hidden + self.short(hidden, (start(self.state), start(self.memory)))[0]
        hidden, state = self.plain(hidden.transpose(0, 1))[0], None
        for step in range(3):
            state = self.cell(hidden[step], state)
        return self.head(state)


class Permuted(nn.Module):
    """Parameters whose orientation, shape or extent the default export does not tell."""

    def __init__(self):
        super().__init__()
        self.kernel, self.heads = nn.Parameter(torch.randn(3, 3, 3, 4) * 0.4), nn.Parameter(torch.randn(2, 4, 4) * 0.4)
        self.places, self.bias, self.head = nn.Parameter(torch.randn(9, 4)), nn.Parameter(torch.randn(2, 2)), nn.Linear(4, 5)

    def forward(self, x):
        hidden = F.conv2d(x, self.kernel.permute(3, 2, 0, 1)).flatten(2).transpose(1, 2)[:, :7]
        hidden = torch.tanh(hidden[:, None] @ self.heads.transpose(1, 2) + self.places[1:8]).mean((1, 2))
        return self.head(hidden + self.bias.flatten())


class Siamese(nn.Module):
    """One encoder for both halves of a sample, and a third time for their mean: each call moves the statistics of its
    batch norms, the first of which is called twice in each. Never trained, so that scales, biases and statistics of
    both are equal."""

    def __init__(self):
        super().__init__()
        self.first, self.norm, self.second = nn.Linear(6, 6), nn.BatchNorm1d(6, momentum=0.25), nn.Linear(6, 6)
        self.other, self.head = nn.BatchNorm1d(6), nn.Linear(6, 5)

    def encode(self, x):
        hidden = torch.tanh(self.norm(self.first(x)))
        return torch.tanh(self.other(self.norm(self.second(hidden))))

    def forward(self, x):
        left, right = x.chunk(2, 1)
        return self.head((self.encode(left) - self.encode(right)).abs() + self.encode((left + right) / 2))


class Again(nn.Module):
    """A module that is called twice with one operand: the default exporter merges the calls, and one move is lost."""

    def __init__(self):
        super().__init__()
        self.encode, self.norm, self.head = nn.Linear(12, 6), nn.BatchNorm1d(6), nn.Linear(6, 5)

    def forward(self, x):
        hidden = self.encode(x)
        return self.head(torch.tanh(self.norm(hidden)) + torch.relu(self.norm(hidden)))


class Followed(nn.Module):
    """Reads the running mean that its batch norm has just moved: the file holds the old one."""

    def __init__(self):
        super().__init__()
        self.encode, self.norm, self.head = nn.Linear(12, 6), nn.BatchNorm1d(6), nn.Linear(6, 5)

    def forward(self, x):
        hidden = self.encode(x)
        return self.head(torch.tanh(self.norm(hidden)) - self.norm.running_mean)


class Relative(nn.Module):
    """Attention with a relative bias over as many tokens as there are samples, shifted to the right as T5 does it."""

    def __init__(self):
        super().__init__()
        self.tokens, self.bias = nn.Embedding(VOCABULARY, 8), nn.Embedding(3, 2)
        self.queries, self.keys, self.values = (nn.Linear(8, 8, bias=False) for _ in range(3))
        self.head = nn.Linear(8, VOCABULARY)

    def forward(self, ids):
        rows, tokens = ids.shape
        shifted = ids.new_zeros(ids.shape)
        shifted[..., 1:] = ids[..., :-1].clone()
        hidden = self.tokens(shifted)
        places = torch.arange(tokens)
        distance = places[:, None] - places
        query, key, value = (layer(hidden).view(rows, tokens, 2, 4).transpose(1, 2)
                             for layer in (self.queries, self.keys, self.values))
        scores = query @ key.transpose(2, 3) + self.bias(distance.clamp(0, 2)).permute(2, 0, 1)
        mixed = torch.softmax(scores.masked_fill(distance < 0, -1e9), -1) @ value
        return self.head(hidden + mixed.transpose(1, 2).reshape(rows, tokens, 8))


def square(rng, rows):
    ids = rng.integers(0, VOCABULARY, (rows, BATCH))
    return {'ids': ids, 'label': ids}


class Kinked(nn.Module):
    """Whole numbers, of which many are 0, equal, or at a bound; rows without any spread."""

    def __init__(self):
        super().__init__()
        self.scale, self.pool, self.head = nn.Parameter(torch.ones(12)), nn.AdaptiveMaxPool1d(1), nn.Linear(29, 5)

    def forward(self, x):
        x = torch.round(x) * self.scale
        parts = x.reshape(-1, 3, 4)
        large = F.relu(parts - 1)
        extremes = [parts.max(2).values, parts.min(1)[0], self.pool(parts).squeeze(2), large.amax((1, 2)).unsqueeze(1)]
        spread = [large.std(2), large.norm(dim=2)]
        bounded = x.clamp(min=0) + x.clamp(-1, 1) + x.clamp(max=1) + F.hardtanh(x) + F.relu6(x) + torch.maximum(x, x.flip(1))
        return self.head(torch.cat([*extremes, *spread, bounded], 1))


class Clipped(nn.Module):
    """Bounds that train, of numbers that reach them; the default exporter merges one clamp with a ReLU."""

    def __init__(self):
        super().__init__()
        self.encode, self.head = nn.Linear(12, 6), nn.Linear(6, 5)
        self.high, self.low = nn.Parameter(torch.tensor(0.5)), nn.Parameter(torch.tensor(-0.25))

    def forward(self, x):
        hidden = self.encode(x)
        return self.head(torch.clamp_max(F.relu(hidden), self.high) + torch.clamp(hidden, self.low, self.high))


def text(rng, rows):
    ids = rng.integers(0, VOCABULARY, (rows, TOKENS + 1))
    return {'ids': ids[:, :-1].copy(), 'label': ids[:, 1:].copy()}


def padding(rng, rows):
    data = text(rng, rows)
    data['ids'][::3, 3:], data['ids'][1::4] = 0, 0
    return data


def vectors(rng, rows):
    return {'x': rng.standard_normal((rows, 12)).astype(np.float32), 'label': rng.integers(0, 5, rows)}


def images(rng, rows):
    return {'x': rng.standard_normal((rows, 3, 6, 6)).astype(np.float32), 'label': rng.integers(0, 5, rows)}


# Whose parameters are compared by value.
VALUES = ['oriented', 'scaled', 'recurrent']
# name: module, data, export, is the module in training mode
MODELS = {
    'tied': (Tied, text, 'default', False),
    'tied-torchscript': (lambda: Tied(False), text, 'torchscript', False),
    'lookups': (Lookups, text, 'default', False),
    'lookups-torchscript': (Lookups, text, 'torchscript', False),
    'shifted': (Shifted, vectors, 'default', False),
    'halved': (Halved, vectors, 'default', False),
    'halved-unoptimized': (Halved, vectors, 'unoptimized', False),
    'channels': (Channels, images, 'default', False),
    'cloned': (Cloned, text, 'default', False),
    'padded': (Padded, text, 'default', False),
    'frequent': (Frequent, text, 'default', False),
    'named': (Named, vectors, 'default', False),
    'hidden': (Hidden, padding, 'default', False),
    'hidden-torchscript': (Hidden, padding, 'torchscript', False),
    'cloned-torchscript': (Cloned, text, 'torchscript', False),
    'detached': (Detached, vectors, 'default', False),
    'detached-unoptimized': (Detached, vectors, 'unoptimized', False),
    'quantized': (Quantized, vectors, 'default', False),
    'quantized-unoptimized': (Quantized, vectors, 'unoptimized', False),
    'centred-unoptimized': (Centred, vectors, 'unoptimized', True),
    'trailing-unoptimized': (Trailing, vectors, 'unoptimized', True),
    'clamped': (Clamped, vectors, 'unoptimized', True),
    'reported': (lambda: Reported(False), vectors, 'unoptimized', True),
    'reported-folded': (Reported, vectors, 'default', True),
    'reported-returned': (Reported, vectors, 'unoptimized', True),
    'masked': (Masked, vectors, 'default', False),
    'copied': (Copied, vectors, 'default', False),
    'weighted': (Weighted, vectors, 'default', False),
    'twins': (Twins, vectors, 'default', False),
    'twins-followed': (lambda: Twins(True), vectors, 'default', False),
    'likened': (Likened, vectors, 'default', False),
    'bounded': (Bounded, vectors, 'default', False),
    'guarded': (Guarded, vectors, 'default', False),
    'guarded-unoptimized': (Guarded, vectors, 'unoptimized', False),
    'oriented': (Oriented, vectors, 'default', False),
    'scaled': (Scaled, images, 'default', False),
    'recurrent': (Recurrent, vectors, 'default', False),
    'permuted': (Permuted, images, 'default', False),
    'siamese': (Siamese, vectors, 'default', True),
    'siamese-unoptimized': (Siamese, vectors, 'unoptimized', True),
    'siamese-torchscript': (Siamese, vectors, 'torchscript-training', True),
    'again': (Again, vectors, 'default', True),
    'again-unoptimized': (Again, vectors, 'unoptimized', True),
    'followed': (Followed, vectors, 'unoptimized', True),
    'relative': (Relative, square, 'default', False),
    'clipped': (Clipped, vectors, 'default', False),
    'clipped-torchscript': (Clipped, vectors, 'torchscript-training', True),
    'kinked': (Kinked, vectors, 'default', False),
    'kinked-torchscript': (Kinked, vectors, 'torchscript', False),
    'normed': (Normed, images, 'default', False),
    'normed-torchscript': (Normed, images, 'torchscript', False),
    'normed-unoptimized': (Normed, images, 'unoptimized', True),
}


def export(module, inputs, path, how):
    outputs = 2 if getattr(module, 'returns', False) else 1
    torch.onnx.export(module, tuple(inputs.values()), path, input_names=list(inputs), output_names=['logits', 'centre_out'][:outputs],
                      **HOWS[how])
    # Stack traces name files of the exporting machine; class names are long, and those around a maximum matter.
    model = onnx.load(path)
    for node in model.graph.node:
        kept = [p for p in node.metadata_props if p.key.rsplit('.', 1)[-1] in ('fx_node', 'name_scopes', 'rule_name')
                or p.key.endswith('class_hierarchy') and node.op_type == 'ReduceMax']
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
        node.doc_string = ''
    onnx.save(model, path)


@contextlib.contextmanager
def wide():
    """Modules that compute a part in f32 whatever they are given (norms of many language models) compute it in f64:
    an export of the module in f32 has no cast there. What no parameter leads to (rotary tables) is still computed in
    f32, as by the export."""
    own = torch.Tensor.to, torch.Tensor.float, F.softmax

    def to(self, *arguments, **options):
        narrows = torch.float32 in (*arguments, *options.values())
        if narrows and self.dtype == torch.float64 and self.requires_grad:
            return self
        return own[0](self, *arguments, **options)

    def softmax(scores, *arguments, dtype=None, **options):
        return own[2](scores if dtype is None else to(scores, dtype), *arguments, **options)
    torch.Tensor.to, torch.Tensor.float, F.softmax = to, lambda self: to(self, torch.float32), softmax
    try:
        yield
    finally:
        torch.Tensor.to, torch.Tensor.float, F.softmax = own


def as_in_file(module, how):
    """The module in f64 with the numbers that its file holds in f32: 1 - momentum, and epsilons of batch norms and of
    TorchScript."""
    module = copy.deepcopy(module).double()
    for each in module.modules():
        if isinstance(each, nn.modules.batchnorm._BatchNorm):
            each.momentum = 1 - float(np.float32(1 - each.momentum))
            each.eps = float(np.float32(each.eps))
        if how.startswith('torchscript') and isinstance(getattr(each, 'eps', None), float):
            each.eps = float(np.float32(each.eps))
    return module


def train(module, data, how, microbatches=1):
    """Losses of STEPS steps in f64, and the module after them."""
    module = as_in_file(module, how)
    optimizer = torch.optim.AdamW(module.parameters(), lr=0.01, weight_decay=0.1)
    losses = []
    for step in range(STEPS):
        batch = {name: torch.from_numpy(value[step * BATCH:(step + 1) * BATCH]) for name, value in data.items()}
        batch = {name: value.double() if value.is_floating_point() else value for name, value in batch.items()}
        optimizer.zero_grad()
        total = 0
        for part in range(microbatches):
            rows = slice(part * BATCH // microbatches, (part + 1) * BATCH // microbatches)
            label, *inputs = (batch[name][rows] for name in ['label', *(name for name in batch if name != 'label')])
            with wide():
                logits = module(*inputs)
                logits = logits[0] if isinstance(logits, tuple) else logits
            loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), label.reshape(-1)) / microbatches
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    return losses, module


def statistics_of(module):
    return {f'{name}.{which}': getattr(each, which).tolist() for name, each in module.named_modules()
            if isinstance(each, nn.modules.batchnorm._BatchNorm) for which in ('running_mean', 'running_var')}


def record_values(folder, make, data, how, trained):
    torch.manual_seed(2)
    other = make()
    with torch.no_grad():
        for value in other.parameters():
            value += torch.randn_like(value) * 0.1
    values = {'loss': np.array(train(other, data, how)[0][0])}
    values |= {'trained/' + name: value.detach().numpy() for name, value in trained.items()}
    values |= {'other/' + name: value.detach().numpy() for name, value in other.named_parameters()}
    np.savez_compressed(os.path.join(folder, 'parameters.npz'), **values)


def record(folder, make, make_data, how, training):
    os.makedirs(folder, exist_ok=True)
    torch.manual_seed(1)
    module = make().train(training)
    data = make_data(np.random.default_rng(7), BATCH * STEPS)
    inputs = {key: torch.from_numpy(value[:BATCH].copy()) for key, value in data.items() if key != 'label'}
    # TorchScript runs forward(), which moves statistics.
    export(module, inputs, os.path.join(folder, 'model.onnx'), how)
    losses, trained = train(module, data, how)
    statistics = statistics_of(trained)
    parameters = {name: list(value.shape) for name, value in module.named_parameters()}
    reference = {'losses': losses, 'parameters': parameters}
    if training and statistics:
        halves = train(module, data, how, microbatches=2)
        reference.update(statistics=statistics, microbatches={'losses': halves[0], 'statistics': statistics_of(halves[1])})
    np.savez_compressed(os.path.join(folder, 'data.npz'), **data)
    if os.path.basename(folder) in VALUES:
        record_values(folder, make, data, how, dict(trained.named_parameters()))
    with open(os.path.join(folder, 'ref.json'), 'w') as file:
        json.dump(reference, file, indent=1)


def main(arguments):
    warnings.filterwarnings('ignore')
    if arguments[:1] == ['--families']:
        sys.path.insert(0, HERE)
        import families
        return families.main(arguments[1], arguments[2:], record)
    for name in arguments or MODELS:
        record(os.path.join(HERE, name), *MODELS[name])
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
