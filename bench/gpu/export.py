"""Writes a workload as ONNX, with `loss` as its output: export.py NAME FILE"""
import sys
import warnings

import torch
from workloads import WORKLOADS

if __name__ == '__main__':
    warnings.filterwarnings('ignore')
    name, path = sys.argv[1:]
    workload = WORKLOADS[name]
    batch = workload.batch()
    # Optimized, an export has no batch normalization any more.
    torch.onnx.export(workload.make().train(), tuple(batch), path, dynamo=True, verbose=False, external_data=False,
                      optimize=not workload.isImages,
                      input_names=[f'in{i}' for i in range(len(batch))], output_names=['loss'])
    # What the program is to be compiled for, and what its inputs count.
    counts = [f'in{i}={limit}' for i, (_, limit) in enumerate(workload.inputs) if limit]
    print(workload.optimizer, workload.bytes, *counts)
