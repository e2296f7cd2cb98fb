#!/usr/bin/env python3
"""Records what PyTorch gives for the cases of cases.py: `record.py` writes torch.json (scripts/setup --dev brings PyTorch)."""
import json
import os

import numpy as np
import torch

import attention
from cases import CASES
from kinks import KINKS, SCRIPTED

RULES = {'Max': torch.maximum, 'Min': torch.minimum, 'ReduceMax': torch.amax, 'ReduceMin': torch.amin,
         'Relu': torch.relu, 'Abs': torch.abs, 'Clip': torch.clamp, 'HardSwish': torch.nn.functional.hardswish}


def normalised(x, p, axis):
    """Where the norm is 0, x / norm is no number: the result is 0 whatever x is."""
    norm = torch.linalg.vector_norm(x, p, axis, True)
    return torch.where(norm == 0, 0., x / torch.where(norm == 0, 1., norm))


def pooled(x, p, kernel, strides):
    windows = x.unfold(2, kernel[0], strides[0]).unfold(3, kernel[1], strides[1])
    return torch.linalg.vector_norm(windows, p, dim=(4, 5))


def evaluate(case, operands):
    if case.rule:
        names = dict(zip('xyz', operands)) | dict(zip('abc', map(torch.tensor, case.constants)))
        return eval(case.rule, {'torch': torch, 'F': torch.nn.functional} | names)
    x, given = operands[0], case.attributes
    functional = torch.nn.functional
    written = {'Elu': lambda: functional.elu(x, given['alpha']), 'Celu': lambda: functional.celu(x, given['alpha']),
               'Selu': lambda: functional.selu(x), 'LeakyRelu': lambda: functional.leaky_relu(x, given['alpha']),
               'ThresholdedRelu': lambda: functional.threshold(x, given['alpha'], 0.),
               'Shrink': lambda: functional.softshrink(x, given['lambd']),
               'ReduceL2': lambda: torch.linalg.vector_norm(x, 2, given['axes'], bool(given['keepdims'])),
               'LpPool': lambda: pooled(x, given['p'], given['kernel_shape'], given['strides']),
               'GlobalLpPool': lambda: torch.linalg.vector_norm(x, given['p'], (2, 3), True),
               'LpNormalization': lambda: normalised(x, given['p'], given['axis']),
               'vector_norm': lambda: torch.linalg.vector_norm(x, given['p'], 1, True),
               'std': lambda: x.std(1, correction=0, keepdim=True)}
    if case.op in written:
        return written[case.op]()
    if case.op == 'HardSigmoid':
        return torch.clamp(operands[0] * case.attributes['alpha'] + case.attributes['beta'], 0., 1.)
    rule = RULES[case.op]
    if case.op.startswith('Reduce'):
        axes = case.attributes.get('axes', list(range(operands[0].ndim)))
        return rule(operands[0], dim=axes, keepdim=bool(case.attributes['keepdims']))
    if case.op == 'Clip':
        return rule(operands[0], *(float(c) for c in case.constants))
    result = operands[0]
    for other in operands[1:]:
        result = rule(result, other)
    return rule(result) if len(operands) == 1 else result


def attend(q, k, v, attributes):
    mask = torch.tensor(attention.seen())
    if not attributes:
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    cap = attributes['softcap']
    scores = torch.tanh(q @ k.mT / q.shape[3] ** 0.5 / cap) * cap
    # PyTorch's own softmax of its attention: 0 for a row without keys, with gradient 0.
    return torch._safe_softmax(scores.masked_fill(~mask, -torch.inf), -1) @ v


def main():
    recorded = {}
    for name, (attributes, _) in attention.FORMS.items():
        operands = {n: torch.tensor(o, requires_grad=True) for n, o in attention.operands().items()}
        result = attend(*operands.values(), attributes)
        (result * torch.tensor(attention.weights())).sum().backward()
        recorded[f'attention, {name}'] = {'value': result.detach().numpy().tolist(),
                                          'gradients': [o.grad.numpy().tolist() for o in operands.values()]}
    for name, case in (CASES | KINKS | SCRIPTED).items():
        operands = [torch.tensor(o, dtype=torch.float64, requires_grad=True) for o in case.operands]
        result = evaluate(case, operands)
        weights = torch.arange(1, result.numel() + 1, dtype=torch.float64).reshape(result.shape)
        entry = {'value': result.detach().numpy().tolist()}
        if not case.has_nan():
            if result.requires_grad:
                (result * weights).sum().backward()
            entry['gradients'] = [(torch.zeros_like(o) if o.grad is None else o.grad).numpy().tolist() for o in operands]
        recorded[name] = entry
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'torch.json')
    with open(path, 'w') as file:
        file.write(json.dumps(recorded, separators=(',', ':')).replace('},"', '},\n"') + '\n')
    print(f'{len(recorded)} cases by PyTorch {torch.__version__}, {os.path.getsize(path)} bytes')


if __name__ == '__main__':
    main()
