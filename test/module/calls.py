"""Modules of whose calls a file has values alone: what is detached, moved, drawn, hidden, or has a kink."""
import torch
from torch import nn
from torch.nn import functional as F

from tensors import VOCABULARY


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
