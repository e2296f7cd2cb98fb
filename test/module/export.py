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
sys.path.insert(0, HERE)
import bags  # noqa: E402, beside this file
import calls  # noqa: E402
import tensors  # noqa: E402

BATCH, STEPS, TOKENS, VOCABULARY = 4, 10, 6, tensors.VOCABULARY
HOWS = {
    'default': dict(dynamo=True, external_data=False, verbose=False),
    'unoptimized': dict(dynamo=True, external_data=False, verbose=False, optimize=False),
    'torchscript': dict(dynamo=False, opset_version=17),
    'torchscript-training': dict(dynamo=False, opset_version=17, training=torch.onnx.TrainingMode.TRAINING,
                                 do_constant_folding=False),
}


def square(rng, rows):
    ids = rng.integers(0, VOCABULARY, (rows, BATCH))
    return {'ids': ids, 'label': ids}


def text(rng, rows):
    ids = rng.integers(0, VOCABULARY, (rows, TOKENS + 1))
    return {'ids': ids[:, :-1].copy(), 'label': ids[:, 1:].copy()}


def padding(rng, rows):
    data = text(rng, rows)
    data['ids'][::3, 3:], data['ids'][1::4] = 0, 0
    return data


def bagged(rng, rows):
    ids = rng.integers(0, VOCABULARY, (rows, TOKENS))
    ids[::3, 3:], ids[1::4] = 0, 0
    return {'ids': ids, 'label': rng.integers(0, 5, rows)}


def ragged(rng, rows):
    """The offsets of a batch are among its indices; some bags are empty, and some steps have none."""
    data = bagged(rng, rows)
    starts = np.sort(rng.integers(0, BATCH * TOKENS - 2, (rows // BATCH, BATCH)), 1)
    starts[:, 0], starts[::3, 2] = 0, starts[::3, 1]
    return {'ids': data['ids'], 'starts': starts.reshape(-1), 'label': data['label']}


def vectors(rng, rows):
    return {'x': rng.standard_normal((rows, 12)).astype(np.float32), 'label': rng.integers(0, 5, rows)}


def images(rng, rows):
    return {'x': rng.standard_normal((rows, 3, 6, 6)).astype(np.float32), 'label': rng.integers(0, 5, rows)}


# Whose parameters are compared by value.
VALUES = ['oriented', 'scaled', 'recurrent']
# name: module, data, export, is the module in training mode
MODELS = {
    'tied': (tensors.Tied, text, 'default', False),
    'tied-torchscript': (lambda: tensors.Tied(False), text, 'torchscript', False),
    'lookups': (tensors.Lookups, text, 'default', False),
    'lookups-torchscript': (tensors.Lookups, text, 'torchscript', False),
    'shifted': (tensors.Shifted, vectors, 'default', False),
    'halved': (tensors.Halved, vectors, 'default', False),
    'halved-unoptimized': (tensors.Halved, vectors, 'unoptimized', False),
    'channels': (tensors.Channels, images, 'default', False),
    'cloned': (tensors.Cloned, text, 'default', False),
    'padded': (calls.Padded, text, 'default', False),
    'frequent': (calls.Frequent, text, 'default', False),
    'bags': (bags.Bags, bagged, 'default', False),
    'bags-unoptimized': (bags.Bags, bagged, 'unoptimized', False),
    'bags-torchscript': (lambda: bags.Bags(False), bagged, 'torchscript', False),
    'ragged': (bags.Ragged, ragged, 'default', False),
    'ragged-unoptimized': (bags.Ragged, ragged, 'unoptimized', False),
    'ragged-torchscript': (lambda: bags.Ragged(False), ragged, 'torchscript', False),
    'frequent-bags': (bags.Frequent, bagged, 'default', False),
    'frequent-ragged-unoptimized': (lambda: bags.Frequent(True), ragged, 'unoptimized', False),
    'frequent-places': (bags.FrequentPlaces, bagged, 'default', False),
    'named': (tensors.Named, vectors, 'default', False),
    'hidden': (calls.Hidden, padding, 'default', False),
    'hidden-torchscript': (calls.Hidden, padding, 'torchscript', False),
    'cloned-torchscript': (tensors.Cloned, text, 'torchscript', False),
    'detached': (calls.Detached, vectors, 'default', False),
    'detached-unoptimized': (calls.Detached, vectors, 'unoptimized', False),
    'quantized': (calls.Quantized, vectors, 'default', False),
    'quantized-unoptimized': (calls.Quantized, vectors, 'unoptimized', False),
    'centred-unoptimized': (calls.Centred, vectors, 'unoptimized', True),
    'trailing-unoptimized': (calls.Trailing, vectors, 'unoptimized', True),
    'clamped': (calls.Clamped, vectors, 'unoptimized', True),
    'reported': (lambda: calls.Reported(False), vectors, 'unoptimized', True),
    'reported-folded': (calls.Reported, vectors, 'default', True),
    'reported-returned': (calls.Reported, vectors, 'unoptimized', True),
    'masked': (calls.Masked, vectors, 'default', False),
    'copied': (calls.Copied, vectors, 'default', False),
    'weighted': (tensors.Weighted, vectors, 'default', False),
    'twins': (tensors.Twins, vectors, 'default', False),
    'twins-followed': (lambda: tensors.Twins(True), vectors, 'default', False),
    'likened': (tensors.Likened, vectors, 'default', False),
    'bounded': (calls.Bounded, vectors, 'default', False),
    'guarded': (calls.Guarded, vectors, 'default', False),
    'guarded-unoptimized': (calls.Guarded, vectors, 'unoptimized', False),
    'oriented': (tensors.Oriented, vectors, 'default', False),
    'scaled': (tensors.Scaled, images, 'default', False),
    'recurrent': (tensors.Recurrent, vectors, 'default', False),
    'permuted': (tensors.Permuted, images, 'default', False),
    'siamese': (calls.Siamese, vectors, 'default', True),
    'siamese-unoptimized': (calls.Siamese, vectors, 'unoptimized', True),
    'siamese-torchscript': (calls.Siamese, vectors, 'torchscript-training', True),
    'again': (calls.Again, vectors, 'default', True),
    'again-unoptimized': (calls.Again, vectors, 'unoptimized', True),
    'followed': (calls.Followed, vectors, 'unoptimized', True),
    'relative': (calls.Relative, square, 'default', False),
    'clipped': (calls.Clipped, vectors, 'default', False),
    'clipped-torchscript': (calls.Clipped, vectors, 'torchscript-training', True),
    'kinked': (calls.Kinked, vectors, 'default', False),
    'kinked-torchscript': (calls.Kinked, vectors, 'torchscript', False),
    'normed': (tensors.Normed, images, 'default', False),
    'normed-torchscript': (tensors.Normed, images, 'torchscript', False),
    'normed-unoptimized': (tensors.Normed, images, 'unoptimized', True),
}


def nodes_of(graph):
    """The nodes of a graph and of those inside it."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            yield from nodes_of(attribute.g)


def export(module, inputs, path, how):
    outputs = 2 if getattr(module, 'returns', False) else 1
    torch.onnx.export(module, tuple(inputs.values()), path, input_names=list(inputs), output_names=['logits', 'centre_out'][:outputs],
                      **HOWS[how])
    # Stack traces name files of the exporting machine; class names are long, and those around a maximum matter.
    model = onnx.load(path)
    for node in nodes_of(model.graph):
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
        import families
        return families.main(arguments[1], arguments[2:], record)
    for name in arguments or MODELS:
        record(os.path.join(HERE, name), *MODELS[name])
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
