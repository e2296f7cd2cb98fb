#!/usr/bin/env python3
"""Exports unet, dlrm, lstm and rows, and records their training by PyTorch.

  export.py [NAME..]        needs torch, onnx and numpy; nothing here is needed to run the tests

Writes into the folder of each model: model.onnx (TorchScript exporter in training mode, dynamic batch), data.npz
(10 batches of 8), ref.json (10 losses of the module in f64, and for unet with the batch cut into two microbatches)
and final.safetensors (parameters after 10 steps by initializer name, `state|NAME` for running statistics).
"""
import copy
import json
import os
import struct
import sys

import numpy as np
import onnx
import torch
from torch import nn
from torch.nn import functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
BATCH, STEPS = 8, 10


class UNet(nn.Module):
    """Convolutions down and up again: batch norm, max and average pooling, a transposed convolution, bilinear
    resizing, skip connections; one class a pixel."""

    def __init__(self):
        super().__init__()

        def block(inputs, outputs):
            return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU())
        self.first, self.second, self.third = block(3, 6), block(6, 8), block(8, 6)
        self.joined, self.last = block(14, 6), block(12, 6)
        self.up = nn.ConvTranspose2d(8, 8, 2, 2)
        self.classes = nn.Conv2d(6, 4, 1)

    def forward(self, x):
        first = self.first(x)
        second = self.second(F.max_pool2d(first, 2))
        joined = self.joined(torch.cat([first, self.up(second)], 1))
        third = self.third(F.avg_pool2d(second, 2))
        wide = F.interpolate(third, scale_factor=4, mode='bilinear', align_corners=False)
        return self.classes(self.last(torch.cat([joined, wide], 1)))


class Recommender(nn.Module):
    """Embeddings of one and of several categories, their pairwise products, a perceptron on both (as DLRM)."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.user, self.items = nn.Embedding(20, 8), nn.Embedding(30, 8)
        self.head = nn.Sequential(nn.Linear(11, 8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, x, user, items):
        dense = self.dense(x)
        rows = torch.stack([dense, self.user(user), self.items(items).sum(1)], 1)
        products = torch.bmm(rows, rows.transpose(1, 2))
        i, j = torch.tril_indices(3, 3, -1)
        return self.head(torch.cat([dense, products[:, i, j]], 1))


class Recurrent(nn.Module):
    """Two layers of LSTM in both directions."""

    def __init__(self):
        super().__init__()
        self.layers = nn.LSTM(5, 7, 2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(14, 2)

    def forward(self, x):
        return self.head(self.layers(x)[0][:, -1])


class RowPicker(nn.Module):
    """Writes the row that an input names and picks the last token that is not padding, in each sequence."""

    def __init__(self):
        super().__init__()
        self.tokens, self.marks = nn.Embedding(11, 6), nn.Embedding(3, 6)
        self.mix, self.head = nn.Linear(6, 5), nn.Linear(5, 3)

    def forward(self, tokens, at, mark):
        samples, steps = torch.arange(tokens.shape[0]), torch.arange(tokens.shape[1])
        hidden = self.tokens(tokens)
        hidden[samples, at] = self.marks(mark)
        hidden = torch.tanh(self.mix(hidden.cumsum(1)))
        return self.head(hidden[samples, (steps * (tokens != 0).int()).argmax(-1)])


def unet_data(rng, rows):
    return {'x': rng.standard_normal((rows, 3, 8, 8)).astype(np.float32), 'label': rng.integers(0, 4, (rows, 8, 8))}


def dlrm_data(rng, rows):
    return {'x': rng.standard_normal((rows, 4)).astype(np.float32), 'user': rng.integers(0, 20, rows),
            'items': rng.integers(0, 30, (rows, 3)), 'label': rng.integers(0, 2, (rows, 1)).astype(np.float32)}


def lstm_data(rng, rows):
    return {'x': rng.standard_normal((rows, 6, 5)).astype(np.float32),
            'label': rng.standard_normal((rows, 2)).astype(np.float32)}


def rows_data(rng, rows):
    tokens = rng.integers(1, 11, (rows, 7))
    tokens[np.arange(7) >= rng.integers(1, 8, (rows, 1))] = 0
    return {'tokens': tokens, 'at': rng.integers(-7, 7, rows), 'mark': rng.integers(0, 3, rows),
            'label': rng.integers(0, 3, rows)}


MODELS = {
    'unet': (UNet, unet_data, F.cross_entropy, lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9), (1, 2)),
    'dlrm': (Recommender, dlrm_data, F.binary_cross_entropy_with_logits, lambda p: torch.optim.Adam(p, lr=0.01), (1,)),
    'lstm': (Recurrent, lstm_data, F.mse_loss, lambda p: torch.optim.Adam(p, lr=0.01), (1,)),
    'rows': (RowPicker, rows_data, F.cross_entropy, lambda p: torch.optim.Adam(p, lr=0.01), (1, 2)),
}


def write_safetensors(path, tensors):
    header, chunks, offset = {}, [], 0
    for name, value in tensors.items():
        raw = value.numpy().astype('<f8').tobytes()
        header[name] = {'dtype': 'F64', 'shape': list(value.shape), 'data_offsets': [offset, offset + len(raw)]}
        chunks.append(raw)
        offset += len(raw)
    text = json.dumps(header).encode()
    with open(path, 'wb') as file:
        file.write(struct.pack('<Q', len(text)) + text + b''.join(chunks))


def train(module, data, loss, optimizer, parts):
    """Losses of STEPS steps in f64, each batch in `parts` microbatches."""
    module = copy.deepcopy(module).double().train()
    for each in module.modules():
        if isinstance(each, nn.BatchNorm2d):  # the file holds 1 - momentum, in f32
            each.momentum = 1 - float(np.float32(1 - each.momentum))
    optimizer = optimizer(module.parameters())
    losses, rows = [], BATCH // parts
    for step in range(STEPS):
        optimizer.zero_grad()
        total = 0.
        for part in range(parts):
            begin = step * BATCH + part * rows
            batch = {name: torch.from_numpy(value[begin:begin + rows]) for name, value in data.items()}
            batch = {name: value.double() if value.is_floating_point() else value for name, value in batch.items()}
            label = batch.pop('label')
            value = loss(module(*batch.values()), label) / parts
            value.backward()
            total += value.item()
        optimizer.step()
        losses.append(total)
    return losses, module


def main(names):
    for name in names or MODELS:
        make, make_data, loss, optimizer, recorded = MODELS[name]
        folder = os.path.join(HERE, name)
        os.makedirs(folder, exist_ok=True)
        torch.manual_seed(1)
        module = make().train()
        data = make_data(np.random.default_rng(7), BATCH * STEPS)
        inputs = {key: torch.from_numpy(value[:BATCH]) for key, value in data.items() if key != 'label'}
        torch.onnx.export(module, tuple(inputs.values()), os.path.join(folder, 'model.onnx'),
                          dynamo=False, opset_version=17, training=torch.onnx.TrainingMode.TRAINING,
                          do_constant_folding=False, input_names=list(inputs), output_names=['logits'],
                          dynamic_axes={key: {0: 'batch'} for key in inputs})
        initializers = {each.name: onnx.numpy_helper.to_array(each)
                        for each in onnx.load(os.path.join(folder, 'model.onnx')).graph.initializer}
        known = set(initializers)
        # The export ran the module, which moved running statistics: training starts from those in the file.
        for key, buffer in module.named_buffers():
            if key in known:
                buffer.copy_(torch.from_numpy(initializers[key].copy()))
        np.savez_compressed(os.path.join(folder, 'data.npz'), **data)
        record = {}
        for parts in recorded:
            suffix = f'_micro{parts}' if parts > 1 else ''
            losses, trained = train(module, data, loss, optimizer, parts)
            record['loss_f64' + suffix] = losses
            final = {key: value.detach() for key, value in trained.named_parameters()}
            assert set(final) <= known, set(final) - known
            final.update({'state|' + key: value for key, value in trained.named_buffers() if key in known})
            write_safetensors(os.path.join(folder, f'final{suffix}.safetensors'), final)
        with open(os.path.join(folder, 'ref.json'), 'w') as file:
            json.dump(record, file, indent=1)


if __name__ == '__main__':
    main(sys.argv[1:])
