#!/usr/bin/env python3
"""Exports the models whose kernels test/cuda/run judges, without their weights.

  export.py [NAME..]        needs torch, torchvision, transformers and onnx (scripts/setup --dev); no test needs it

Writes models/NAME.onnx.gz: GPT-2 with 124 million parameters for 16 texts of 1024 tokens, and ResNet-50 for 64 images.
torch's exporter has the settings of docs/exporting.md, so that the graphs are those that users get. Parameters of
more than 1 KiB are references into models/weights.bin, a file that is not there: `dpc-compile --params=none` does not
read it.
"""
import copy
import gzip
import importlib.util
import os
import sys
import tempfile

import onnx
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, 'models')
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location('layouts', os.path.join(HERE, '..', 'layouts', 'export.py'))
layouts = importlib.util.module_from_spec(spec)
spec.loader.exec_module(layouts)


def gpt2_124m():
    from transformers import GPT2Config, GPT2LMHeadModel
    model = GPT2LMHeadModel(GPT2Config(resid_pdrop=0, embd_pdrop=0, attn_pdrop=0))
    for parameter in model.parameters():  # as after training; the exporter would merge equal ones
        if parameter.dim() == 1:
            torch.nn.init.normal_(parameter)
    return layouts.transformer(model), (torch.zeros(16, 1024, dtype=torch.long),), ['ids'], ['logits']


def resnet50():
    import torchvision
    return torchvision.models.resnet50().train(), (torch.zeros(64, 3, 224, 224),), ['image'], ['logits']


MODELS = {function.__name__: function for function in (gpt2_124m, resnet50)}


def export(name):
    torch.manual_seed(0)
    model, inputs, names, outputs = MODELS[name]()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'model.onnx')
        torch.onnx.export(model, inputs, path, input_names=names, output_names=outputs,
                          optimize=name != 'resnet50')  # which would fold its batch normalisations
        exported = onnx.load(path)
    positions = [tensor for tensor in exported.graph.initializer if tensor.data_type == onnx.TensorProto.INT64]
    kept = copy.deepcopy(positions)
    result = layouts.without_weights(layouts.without_traces(exported))
    for tensor, value in zip(positions, kept):
        tensor.CopyFrom(value)
    os.makedirs(FOLDER, exist_ok=True)
    path = os.path.join(FOLDER, name + '.onnx.gz')
    with open(path, 'wb') as file:  # the attention mask is made of index tensors, which are large but regular
        file.write(gzip.compress(result.SerializeToString(), mtime=0))
    print(name, os.path.getsize(path), 'bytes')


if __name__ == '__main__':
    for name in sys.argv[1:] or MODELS:
        export(name)
