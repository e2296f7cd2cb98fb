"""Modules with nn.EmbeddingBag, in all its modes: over indices of two dimensions, and between offsets."""
import torch
from torch import nn

from tensors import VOCABULARY


def bag(mode, **options):
    """A table in which many numbers are equal, so that maxima are."""
    table = nn.EmbeddingBag(VOCABULARY, 3, mode=mode, **options)
    with torch.no_grad():
        table.weight.copy_((table.weight * 2).round() / 2)
    return table


class Bags(nn.Module):
    """A bag a sample; with `padding`, without the indices 0."""

    def __init__(self, padding=True):
        super().__init__()
        options = {'padding_idx': 0} if padding else {}
        self.sums, self.means, self.maxima = bag('sum', **options), bag('mean', **options), bag('max', **options)
        self.weighted, self.plain = bag('sum', **options), bag('mean')
        self.weights, self.head = nn.Embedding(VOCABULARY, 1), nn.Linear(15, 5)

    def forward(self, ids):
        weights = self.weights(ids).reshape(ids.shape)
        return self.head(torch.cat([self.sums(ids), self.means(ids), self.maxima(ids), self.plain(ids),
                                    self.weighted(ids, per_sample_weights=weights)], 1))


class Ragged(nn.Module):
    """Bags between offsets that the data brings or that the module knows, some of them empty."""

    def __init__(self, padding=True):
        super().__init__()
        options = {'padding_idx': 0} if padding else {}
        self.sums, self.means, self.maxima = bag('sum', **options), bag('mean', **options), bag('max', **options)
        self.plain, self.most, self.last = bag('mean'), bag('max'), bag('sum', include_last_offset=True)
        self.weighted, self.uneven, self.known = bag('sum', **options), bag('mean'), bag('max', **options)
        self.weights, self.head = nn.Embedding(VOCABULARY, 1), nn.Linear(27, 5)

    def forward(self, ids, starts):
        weights, ids = self.weights(ids).reshape(-1), ids.reshape(-1)
        ends, constant = torch.cat([starts, torch.tensor([ids.numel()])]), torch.tensor([0, 5, 5, 7])
        return self.head(torch.cat([
            self.sums(ids, starts), self.means(ids, starts), self.maxima(ids, starts), self.plain(ids, starts),
            self.most(ids, starts), self.last(ids, ends), self.weighted(ids, starts, per_sample_weights=weights),
            self.uneven(ids, constant), self.known(ids, constant)], 1))


class Frequent(nn.Module):
    """Tables whose gradients are divided by how often a row is read: in all bags of a batch, left out or not."""

    def __init__(self, ragged=False):
        super().__init__()
        options = {'scale_grad_by_freq': True}
        self.sums, self.means = bag('sum', **options), bag('mean', **options)
        self.padded, self.weighted = bag('mean', padding_idx=0, **options), bag('sum', **options)
        self.ragged, self.weights, self.head = ragged, nn.Embedding(VOCABULARY, 1), nn.Linear(12, 5)

    def forward(self, ids, starts=None):
        weights = self.weights(ids).reshape(ids.shape)
        if self.ragged:
            ids, weights = ids.reshape(-1), weights.reshape(-1)
        return self.head(torch.cat([self.sums(ids, starts), self.means(ids, starts), self.padded(ids, starts),
                                    self.weighted(ids, starts, per_sample_weights=weights)], 1))


class FrequentPlaces(nn.Module):
    """The same over places that the module knows: the export computes which rows these are."""

    def __init__(self):
        super().__init__()
        self.places, self.head = bag('sum', scale_grad_by_freq=True), nn.Linear(3, 5)

    def forward(self, ids):
        return self.head(self.places(torch.arange(8).reshape(1, 8) % 5)) + ids.float().mean(1, keepdim=True)
