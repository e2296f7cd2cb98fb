#!/usr/bin/env python3
"""Exports the workloads of workloads.py without their weights: `loss` is the output of each model.

  export.py [NAME..]        needs torch, onnxscript and onnx (scripts/setup --dev); no test needs it

Writes models/NAME.onnx.gz and models/small/NAME.onnx.gz, and models.json beside each: the optimizer, the bytes that a step
must move, and a limit for each input that holds integers. Parameters of more than 1 KiB are references into a file that is
not there: `dpc-compile --params=none` does not read it.
"""
import copy
import gzip
import importlib.util
import json
import os
import sys
import tempfile
import warnings

import onnx
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, 'parts'))
import workloads  # noqa: E402
spec = importlib.util.spec_from_file_location('layouts', os.path.join(HERE, '..', '..', 'test', 'layouts', 'export.py'))
layouts = importlib.util.module_from_spec(spec)
spec.loader.exec_module(layouts)


def export(name, workload, folder):
    """Writes a model. Returns what a user of it must know."""
    batch = workload.batch()
    with tempfile.TemporaryDirectory() as temporary:
        path = os.path.join(temporary, 'model.onnx')
        # Optimized, an export has lost parameters and batch normalizations.
        torch.onnx.export(workload.make().train(), tuple(batch), path, dynamo=True, verbose=False, optimize=False,
                          input_names=[f'in{i}' for i in range(len(batch))], output_names=['loss'])
        exported = onnx.load(path)
    kept = {tensor.name: copy.deepcopy(tensor) for tensor in exported.graph.initializer if tensor.data_type != onnx.TensorProto.FLOAT}
    model = layouts.without_weights(layouts.without_traces(exported))
    for tensor in model.graph.initializer:
        if tensor.name in kept:
            tensor.CopyFrom(kept[tensor.name])
    path = os.path.join(folder, name + '.onnx.gz')
    with open(path, 'wb') as file:
        file.write(gzip.compress(model.SerializeToString(), mtime=0))
    print(path, os.path.getsize(path), 'bytes')
    return {'optimizer': workload.optimizer, 'bytes': workload.bytes,
            'counts': {f'in{i}': limit for i, (_, limit) in enumerate(workload.inputs) if limit}}


def main():
    warnings.filterwarnings('ignore')
    torch.manual_seed(0)
    for table, folder in (workloads.WORKLOADS, 'models'), (workloads.SMALL, 'models/small'):
        folder = os.path.join(HERE, folder)
        os.makedirs(folder, exist_ok=True)
        facts = os.path.join(folder, 'models.json')
        known = {}
        if os.path.exists(facts):
            with open(facts) as file:
                known = json.load(file)
        for name in sys.argv[1:] or table:
            known[name] = export(name, table[name], folder)
        with open(facts, 'w') as file:
            json.dump({name: known[name] for name in table if name in known}, file, indent=1)
            file.write('\n')


if __name__ == '__main__':
    main()
