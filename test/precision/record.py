#!/usr/bin/env python3
"""Records how far PyTorch's autocast is off f64 on the models that test/precision/run trains.

  PYTHONPATH=DIR record.py     DIR has onnxref.py, which runs an ONNX graph by PyTorch; needs torch, onnx and numpy;
                               nothing here is needed to run the tests

The graph of test/models/NAME/model.onnx is trained for 10 steps in f64 and under torch.autocast('cpu', ..) in bf16 and,
with torch.amp.GradScaler, in f16: the same data, the optimizer that test/interp/run names. Writes losses.json beside
itself: for each model the losses in f64 and of each type of autocast, of five runs with the batches in five orders. How
far rounding carries a run is chance, and only other batches give another chance.
"""
import importlib.machinery
import importlib.util
import json
import os

import numpy as np
import onnxref
import torch
from torch.nn import functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
loader = importlib.machinery.SourceFileLoader('interp', os.path.join(HERE, '..', 'interp', 'run'))
interp = importlib.util.module_from_spec(importlib.util.spec_from_loader('interp', loader))
loader.exec_module(interp)

BATCH = 8
ORDERS = 5
TYPES = {'bf16': torch.bfloat16, 'f16': torch.float16}


def options_of(flag):
    name, *pairs = flag.split(',')
    return name, {key: float(value) for key, value in (pair.split('=') for pair in pairs)}


def make_optimizer(flag, parameters):
    name, values = options_of(flag)
    lr = values.pop('lr')
    if name in ('momentum', 'sgd'):
        return torch.optim.SGD(parameters, lr=lr, momentum=values.get('momentum', 0.9 if name == 'momentum' else 0))
    betas = values.get('beta1', 0.9), values.get('beta2', 0.999)
    kind = torch.optim.AdamW if name == 'adamw' else torch.optim.Adam
    return kind(parameters, lr=lr, betas=betas, weight_decay=values.get('weight-decay', 0))


def loss_of(kind, outputs, label):
    if kind.startswith('output:'):
        return outputs[0]
    logits = outputs[0]
    if kind == 'mse':
        return F.mse_loss(logits.float() if logits.dtype != torch.float64 else logits, label)
    if logits.dim() > 2 and label.dim() == logits.dim() - 1:  # classes are the last dimension
        logits, label = logits.reshape(-1, logits.shape[-1]), label.reshape(-1)
    return F.cross_entropy(logits.float() if logits.dtype != torch.float64 else logits, label)


# Another name for a case whose table of tokens is one parameter with the last product's weight, and that weight's name
# in the file: a copy, transposed.
TIED = {'gpt2-tied': ('gpt2', 'm.lm_head.weight', 'val_313')}


def train(case, narrow, order=0):
    """Losses of 10 steps; `narrow` is None for f64. `order` seeds in which order the batches come; 0: as they are."""
    case, *tied = TIED.get(case, (case,))
    flags = dict(flag.lstrip('-').split('=', 1) for flag in interp.CASES[case][0] if '=' in flag)
    folder = os.path.join(interp.MODELS, case)
    executor = onnxref.Exec(os.path.join(folder, 'model.onnx'), torch.float32 if narrow else torch.float64)
    trained = set(interp.read_safetensors(os.path.join(folder, 'final.safetensors')))
    if tied:
        trained.discard(tied[1])
    parameters = {name: value.clone().requires_grad_() for name, value in executor.init.items() if name in trained}
    assert parameters and len(parameters) == len([name for name in trained if not name.startswith('state|')])

    def values():
        return {**parameters, tied[1]: parameters[tied[0]].T} if tied else parameters

    optimizer = make_optimizer(flags['optimizer'], list(parameters.values()))
    scaler = torch.amp.GradScaler('cpu', enabled=narrow == 'f16')
    data, losses = np.load(os.path.join(folder, 'data.npz')), []
    for step in np.random.default_rng(order).permutation(interp.STEPS) if order else range(interp.STEPS):
        rows = step * BATCH + np.arange(BATCH)
        batch = {name: torch.from_numpy(data[name][rows]) for name in data.files}
        if not narrow:
            batch = {name: value.double() if value.is_floating_point() else value for name, value in batch.items()}
        label = batch.pop('label', None) if flags['loss'][:7] != 'output:' else None
        optimizer.zero_grad()
        with torch.autocast('cpu', TYPES.get(narrow), enabled=bool(narrow)):
            loss = loss_of(flags['loss'], executor.run(batch, values()), label)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        executor.init.update({name: value.detach() for name, value in executor.state.items()})
        losses.append(loss.item())
    return losses


def main():
    record = {}
    for case in ('gpt2', *TIED, 'llama', 'bn_cnn', 'lstm'):
        record[case] = {str(name or 'f64'): [train(case, name, order) for order in range(ORDERS)] for name in (None, *TYPES)}
        want = np.array(record[case]['f64'])
        for name in TYPES:
            print(case, name, 'off by', *(f'{error:.2e}' for error in np.max(np.abs(np.array(record[case][name]) - want), axis=1)))
        if case in TIED:
            continue
        known = json.load(open(os.path.join(interp.MODELS, case, 'ref.json')))['loss_f64']
        print(case, f'f64 off the recorded run by {np.max(np.abs(want[0] - known)):.1e}')
    with open(os.path.join(HERE, 'losses.json'), 'w') as file:
        json.dump(record, file, indent=1)
        file.write('\n')


if __name__ == '__main__':
    main()
