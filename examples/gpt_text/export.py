#!/usr/bin/env python3
"""Writes model.onnx, the untrained byte-level GPT of scripts/demo-gpt. Needs PyTorch: scripts/setup --dev."""

from pathlib import Path

import torch
from torch import nn

VOCABULARY, LENGTH, WIDTH, HEADS, LAYERS = 128, 64, 64, 4, 2


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.out = nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        normed = self.norm1(x)
        q, k, v = (part(normed).unflatten(2, (HEADS, -1)).transpose(1, 2)
                   for part in (self.query, self.key, self.value))
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Parameter(0.02 * torch.randn(LENGTH, WIDTH))
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        nn.init.normal_(self.tokens.weight, std=0.02)

    def forward(self, tokens):
        return self.head(self.norm(self.blocks(self.tokens(tokens) + self.positions)))


torch.manual_seed(0)
# optimize=False keeps the name of every parameter: the exporter's optimizer would merge equal parameters.
torch.onnx.export(Gpt(), (torch.zeros(32, LENGTH, dtype=torch.int64),), Path(__file__).with_name("model.onnx"),
                  dynamo=True, external_data=False, optimize=False, input_names=["tokens"],
                  output_names=["logits"], dynamic_shapes=({0: torch.export.Dim("batch")},))
