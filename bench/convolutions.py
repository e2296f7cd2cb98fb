#!/usr/bin/env python3
"""Training steps of single convolutions, dpc against PyTorch (oneDNN), on one thread.

  bench/convolutions.py [WORD]     shapes whose name has WORD; tools: $DPC_BIN, or build/release/bin

Prints, for each shape class, the shortest step of either and their ratio; the two take turns. Needs PyTorch
(scripts/setup --dev).
"""
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
import torch
from torch import nn

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.environ.get('DPC_BIN', os.path.join(ROOT, 'build/release/bin'))


def conv(*arguments, **options):
    return nn.Conv2d(*arguments, bias=False, **options)


# name: input, convolutions. The first one's input needs no gradient.
SHAPES = {
    '1x1 256x56x56': ((8, 256, 56, 56), [conv(256, 64, 1), conv(64, 256, 1)]),
    '1x1 512x28x28': ((8, 512, 28, 28), [conv(512, 128, 1), conv(128, 512, 1)]),
    '1x1 1024x14x14': ((8, 1024, 14, 14), [conv(1024, 256, 1), conv(256, 1024, 1)]),
    '1x1 2048x7x7': ((8, 2048, 7, 7), [conv(2048, 512, 1), conv(512, 2048, 1)]),
    '3x3 64x56x56': ((8, 64, 56, 56), [conv(64, 64, 3, padding=1), conv(64, 64, 3, padding=1)]),
    '3x3 256x14x14': ((8, 256, 14, 14), [conv(256, 256, 3, padding=1), conv(256, 256, 3, padding=1)]),
    '3x3 stride 2 128x28x28': ((8, 128, 28, 28), [conv(128, 256, 3, stride=2, padding=1),
                                                  conv(256, 256, 3, padding=1)]),
    '7x7 stride 2 3x112x112': ((8, 3, 112, 112), [conv(3, 64, 7, stride=2, padding=3)]),
    '16x16 patches 3x224x224': ((4, 3, 224, 224), [conv(3, 192, 16, stride=16)]),
    'depthwise 3x3 144x28x28': ((8, 144, 28, 28), [conv(144, 144, 3, padding=1, groups=144),
                                                   conv(144, 144, 3, padding=1, groups=144)]),
    'groups of 4 3x3 128x28x28': ((8, 128, 28, 28), [conv(128, 128, 3, padding=1, groups=32),
                                                     conv(128, 128, 3, padding=1, groups=32)]),
    'length 5 64x1000': ((8, 64, 1000), [nn.Conv1d(64, 64, 5, padding=2, bias=False),
                                         nn.Conv1d(64, 64, 5, padding=2, bias=False)]),
}


class Squares(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return (self.layers(x) ** 2).mean()


def torch_step(module, optimizer, x):
    start = time.perf_counter()
    optimizer.zero_grad()
    module(x).backward()
    optimizer.step()
    return time.perf_counter() - start


def measure(folder, shape, layers):
    """Shortest seconds a step of dpc and of PyTorch."""
    module, x = Squares(layers), torch.randn(shape)
    path = lambda name: os.path.join(folder, name)
    torch.onnx.export(module, (x,), path('model.onnx'), dynamo=False, input_names=['x'], output_names=['loss'],
                      training=torch.onnx.TrainingMode.TRAINING)
    np.savez(path('data.npz'), x=x.numpy())
    subprocess.run([os.path.join(BIN, 'dpc-compile'), path('model.onnx'), '--loss=output:loss',
                    '--optimizer=sgd,lr=0', '-o', path('program')], check=True, capture_output=True)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.)
    ours, theirs = [], []
    for _ in range(4):
        subprocess.run([path('program'), '--data=' + path('data.npz'), '--epochs=10', '--log=' + path('log')],
                       check=True, capture_output=True)
        with open(path('log')) as log:
            ours += [json.loads(line)['seconds'] for line in log][1:]
        theirs += [torch_step(module, optimizer, x) for _ in range(10)][1:]
    return min(ours), min(theirs)


def main():
    warnings.simplefilter('ignore')
    torch.set_num_threads(1)
    torch.manual_seed(0)
    word = sys.argv[1] if len(sys.argv) > 1 else ''
    for name, (shape, layers) in SHAPES.items():
        if word not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            ours, theirs = measure(folder, shape, layers)
        print(f'{name:28s} dpc {ours * 1e3:7.2f} ms  PyTorch {theirs * 1e3:7.2f} ms  ratio {ours / theirs:.2f}',
              flush=True)


if __name__ == '__main__':
    main()
