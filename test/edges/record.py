#!/usr/bin/env python3
"""Records what PyTorch gives for the cases of cases.py: `record.py` writes torch.json (scripts/setup --dev brings PyTorch)."""
import json
import os

import numpy as np
import torch

from cases import CASES

RULES = {'Max': torch.maximum, 'Min': torch.minimum, 'ReduceMax': torch.amax, 'ReduceMin': torch.amin,
         'Relu': torch.relu, 'Abs': torch.abs, 'Clip': torch.clamp, 'HardSwish': torch.nn.functional.hardswish}


def evaluate(case, operands):
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


def main():
    recorded = {}
    for name, case in CASES.items():
        operands = [torch.tensor(o, dtype=torch.float64, requires_grad=True) for o in case.operands]
        result = evaluate(case, operands)
        weights = torch.arange(1, result.numel() + 1, dtype=torch.float64).reshape(result.shape)
        entry = {'value': result.detach().numpy().tolist()}
        if not case.has_nan():
            (result * weights).sum().backward()
            entry['gradients'] = [o.grad.numpy().tolist() for o in operands]
        recorded[name] = entry
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'torch.json')
    with open(path, 'w') as file:
        file.write(json.dumps(recorded, separators=(',', ':')).replace('},"', '},\n"') + '\n')
    print(f'{len(recorded)} cases by PyTorch {torch.__version__}, {os.path.getsize(path)} bytes')


if __name__ == '__main__':
    main()
