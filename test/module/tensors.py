"""Modules of which the exporters merge, fold, join or rename parameters."""
import copy

import torch
from torch import nn
from torch.nn import functional as F

VOCABULARY = 11


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
