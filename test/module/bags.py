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
