#!/usr/bin/env python3
"""Rounding errors of f32 gradients: dpc's over PyTorch's, both measured from the gradient in f64.

  bench/gradients.py [WORD] [--seeds=N] [--tensors] [dpc-compile option..]

Models whose name has WORD; tools: $DPC_BIN, or build/release/bin. A seed (default: 3 of them) gives weights and a batch.
The error of a tensor's gradient is its L2 distance from the f64 gradient over the norm of that; a ratio is dpc's error
over that of PyTorch, which runs the module as it is. dpc's gradient is exact: after the first step of SGD with momentum,
`momentum_buffer` of the checkpoint is 0.9 * 0 + gradient. The truth is PyTorch's f64 gradient; the script fails where that
of a program of --precision=f64 is further from it than AGREEMENT.

Two things are left out, neither by what dpc gives in f32, and the output says which:
* a tensor that has no gradient (such as a bias before a BatchNorm): its f64 gradients, PyTorch's and dpc's, have root mean
  squares below NOTHING of the median tensor's;
* a batch that is near a kink: the gradient jumps by 1e-3 or so where an input of a ReLU changes sign or two elements of a
  maximum change places, and whom that happens to is luck. No input may be nearer to one than KINK standard deviations of
  what f32 does to such inputs (PyTorch's f32, another batch).

Prints each seed's median and worst ratio and those of all seeds (--tensors: all tensors of each), and exits with 1 if one is
above LIMIT. Needs PyTorch, torchvision and transformers (scripts/setup --dev).
"""
import argparse
import copy
import os
import statistics
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import safetensors.numpy
import torch
from torch import nn
from torch.nn import functional as F

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.environ.get('DPC_BIN', os.path.join(ROOT, 'build/release/bin'))
LIMIT, AGREEMENT, NOTHING, KINK = 2, 1e-7, 1e-10, 3
TORCHSCRIPT = dict(dynamo=False, opset_version=17, training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False)
DEFAULT = dict(dynamo=True, external_data=False, verbose=False)


class Recurrent(nn.Module):
    """Predicts each next token from an LSTM's output."""

    def __init__(self, vocabulary, inputs, hidden, layers):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, inputs)
        self.layers = nn.LSTM(inputs, hidden, layers, batch_first=True)
        self.head = nn.Linear(hidden, vocabulary)

    def forward(self, x):
        return self.head(self.layers(self.tokens(x))[0])


class Logits(nn.Module):
    """A language model of transformers as a function from tokens to logits."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(input_ids=x, use_cache=False).logits


def resnet18():
    import torchvision
    return torchvision.models.resnet18()


def gpt2(layers, width, heads, tokens, vocabulary):
    import transformers
    return Logits(transformers.GPT2LMHeadModel(transformers.GPT2Config(
        n_layer=layers, n_embd=width, n_head=heads, n_positions=tokens, vocab_size=vocabulary, bos_token_id=0,
        eos_token_id=0, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0)))


def images(batch, size):
    return lambda: (torch.randn(batch, 3, size, size), torch.randint(1000, (batch,)))


def texts(batch, tokens, vocabulary):
    return lambda: (torch.randint(vocabulary, (batch, tokens)), torch.randint(vocabulary, (batch, tokens)))


# name: module, batch, how it is exported
MODELS = {
    'ResNet-18, 8 x 3 x 64 x 64': (resnet18, images(8, 64), TORCHSCRIPT),
    'ResNet-18, 16 x 3 x 32 x 32': (resnet18, images(16, 32), TORCHSCRIPT),
    'GPT-2, 4 layers, d 256, 8 x 128 tokens of 4096': (lambda: gpt2(4, 256, 4, 128, 4096), texts(8, 128, 4096), DEFAULT),
    'GPT-2, 2 layers, d 128, 16 x 256 tokens of 1024': (lambda: gpt2(2, 128, 4, 256, 1024), texts(16, 256, 1024), DEFAULT),
    'LSTM, 2 layers, d 256, 8 x 64 tokens of 4096': (lambda: Recurrent(4096, 128, 256, 2), texts(8, 64, 4096), TORCHSCRIPT),
    'LSTM, 1 layer, d 128, 64 x 32 tokens of 512': (lambda: Recurrent(512, 64, 128, 1), texts(64, 32, 512), TORCHSCRIPT),
}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f'{" ".join(command)}\n{done.stderr}')


def converted(module, x, precision):
    return copy.deepcopy(module).to(precision).train(), x.to(precision) if x.is_floating_point() else x


class FoundKink(Exception):
    pass


class Kinks:
    """Tells batches near a kink of any ReLU or MaxPool2d."""

    def __init__(self, module, x):
        distances, rounded = [], []
        self.visit(module, x, torch.float64, distances.append)
        self.visit(module, x, torch.float32, rounded.append)
        self.margins = [KINK * torch.nan_to_num(a - b, posinf=0).square().mean().sqrt() for a, b in zip(distances, rounded)]

    def are_near(self, module, x):
        margins = iter(self.margins)

        def compare(distance):
            if (distance.abs() <= next(margins)).any():
                raise FoundKink
        try:
            self.visit(module, x, torch.float64, compare)
        except FoundKink:
            return True
        return False

    @staticmethod
    def visit(module, x, precision, use):
        """Gives `use` the distance of each layer's inputs from a kink, layer by layer as they run."""
        module, x = converted(module, x, precision)

        def hook(layer, inputs):
            values = inputs[0].clone()
            if isinstance(layer, nn.ReLU):
                return use(values)
            values = F.pad(values, 4 * [layer.padding], value=-torch.inf)
            for dimension in (2, 3):
                values = values.unfold(dimension, layer.kernel_size, layer.stride)
            first, second = values.flatten(4).topk(2).values.unbind(-1)
            # Where all are 0, as a ReLU leaves them, each choice has the gradient 0.
            use(torch.where(first == 0, torch.inf, first - second))
        for each in module.modules():
            if isinstance(each, (nn.ReLU, nn.MaxPool2d)):
                each.register_forward_pre_hook(hook)
        with torch.no_grad():
            module(x)


def torch_gradients(module, x, label, precision):
    """By name; a tied parameter's under each of its names."""
    module, x = converted(module, x, precision)
    for each in module.modules():
        if hasattr(each, 'eps'):  # ONNX holds it in f32
            each.eps = float(np.float32(each.eps))
    F.cross_entropy(module(x).flatten(0, -2), label.flatten()).backward()
    return {name: each.grad.double().numpy() for name, each in module.named_parameters(remove_duplicate=False)}


class Programs:
    """A module compiled in f32 and f64; weights and data come with each run."""

    def __init__(self, folder, module, x, export, arguments):
        self.folder = folder
        torch.onnx.export(copy.deepcopy(module).train(), (x,), self.path('model.onnx'), input_names=['x'],
                          output_names=['logits'], **export)
        for precision in ('f32', 'f64'):
            run(os.path.join(BIN, 'dpc-compile'), self.path('model.onnx'), '--loss=cross-entropy',
                '--optimizer=sgd,lr=0.01,momentum=0.9', '--precision=' + precision, '-o', self.path(precision), *arguments)

    def path(self, name):
        return os.path.join(self.folder, name)

    def gradients(self, module, x, label, precision):
        weights = {name: each.detach().numpy() for name, each in module.state_dict().items()}
        safetensors.numpy.save_file(weights, self.path('weights.safetensors'))
        np.savez(self.path('data.npz'), x=x.numpy(), label=label.numpy())
        with tempfile.TemporaryDirectory(dir=self.folder) as kept:
            run(os.path.join(BIN, 'dpc-run'), '-n', '1', self.path(precision), '--data=' + self.path('data.npz'),
                '--no-shuffle', '--steps=1', '--init-params=' + self.path('weights.safetensors'), '--checkpoint=' + kept)
            state = safetensors.numpy.load_file(os.path.join(kept, 'step-1', 'state-0.safetensors'))
        slot = 'momentum_buffer|'
        return {name.removeprefix(slot): each.astype(np.float64) for name, each in state.items() if name.startswith(slot)}


def error(gradient, true):
    return np.linalg.norm(gradient - true) / np.linalg.norm(true)


def without_gradient(gradients):
    sizes = {name: np.linalg.norm(each) / each.size ** 0.5 for name, each in gradients.items()}
    return {name for name, size in sizes.items() if size <= NOTHING * statistics.median(sizes.values())}


def measure(programs, module, x, label):
    """(ratio, dpc's error, PyTorch's, name) of each tensor, ascending; the tensors left out; how far the f64s are apart."""
    true, theirs = (torch_gradients(module, x, label, precision) for precision in (torch.float64, torch.float32))
    ours64, ours = (programs.gradients(module, x, label, precision) for precision in ('f64', 'f32'))
    trained = {id(each): name for name, each in module.named_parameters(remove_duplicate=False) if name in ours}
    if len(trained) != len(list(module.parameters())) or not ours.keys() == ours64.keys() == set(trained.values()):
        sys.exit(f'the programs train {sorted(ours)}')
    true = {name: true[name] for name in ours}
    left_out = without_gradient(true) & without_gradient(ours64)
    compared = ours.keys() - left_out
    apart, worst = max((error(ours64[name], true[name]), name) for name in compared)
    if apart > AGREEMENT:
        sys.exit(f"{worst}: dpc's f64 gradient is {apart:.0e} from PyTorch's")
    rows = []
    for name in compared:
        errors = error(ours[name], true[name]), error(theirs[name], true[name])
        rows.append((errors[0] / errors[1], *errors, name))
    return sorted(rows), sorted(left_out), apart


def compare(name, options, arguments):
    """The worst ratio of each seed."""
    make, batch, export = MODELS[name]
    print(name)
    medians, worst = [], []
    with tempfile.TemporaryDirectory() as folder:
        torch.manual_seed(options.seeds)
        module, (x, _) = make(), batch()
        programs, kinks = Programs(folder, module, x, export, arguments), Kinks(module, x)
        for seed in range(options.seeds):
            torch.manual_seed(seed)
            module, (x, label), near = make(), batch(), 0
            while kinks.are_near(module, x):
                (x, label), near = batch(), near + 1
            rows, left_out, apart = measure(programs, module, x, label)
            print(f'  seed {seed}: {len(rows)} tensors, f64 within {apart:.0e}; without gradient: '
                  f'{", ".join(left_out) or "none"}; near a kink: {near} batches')
            for row in rows if options.tensors else rows[-1:]:
                print('    {:.2f} = {:.1e} / {:.1e}  {}'.format(*row), flush=True)
            medians.append(statistics.median(row[0] for row in rows))
            worst.append(rows[-1][0])
    print(f'  median tensor {statistics.median(medians):.2f}, worst tensor {statistics.median(worst):.2f} in the median of the '
          f'seeds, {max(worst):.2f} at most', flush=True)
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument('word', nargs='?', default='')
    parser.add_argument('--seeds', type=int, default=3)
    parser.add_argument('--tensors', action='store_true')
    options, arguments = parser.parse_known_args()
    warnings.simplefilter('ignore')
    worst = [ratio for name in MODELS if options.word in name for ratio in compare(name, options, arguments)]
    sys.exit(int(max(worst) > LIMIT))


if __name__ == '__main__':
    main()
