#!/usr/bin/env python3
"""Exports the models that test/layouts/run lays out, without their weights.

  export.py [NAME..]        needs torch, torchvision, transformers, timm and onnx (scripts/setup --dev); no test needs it

Writes models/NAME.onnx: graphs of the default exporter, large enough that a choice of layout matters. Tensors of more
than 1 KiB are references into models/weights.bin, a file that is not there: the suite makes one of zeros.
"""
import copy
import math
import os
import sys
import tempfile

import onnx
import torch
from torch import nn
from torch.nn import functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, 'models')


class Logits(nn.Module):
    """A model of transformers that returns its logits alone."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids):
        return self.model(input_ids=ids, use_cache=False).logits


def transformer(model):
    model.config.attn_implementation = 'sdpa'
    return Logits(model.train())


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel
    config = GPT2Config(n_layer=3, n_embd=1024, n_head=16, n_positions=512, vocab_size=32000,
                        resid_pdrop=0, embd_pdrop=0, attn_pdrop=0)
    return transformer(GPT2LMHeadModel(config)), (torch.zeros(8, 512, dtype=torch.long),), ['ids'], ['logits']


def llama():
    from transformers import LlamaConfig, LlamaForCausalLM
    config = LlamaConfig(num_hidden_layers=4, hidden_size=512, intermediate_size=1408, num_attention_heads=8,
                         num_key_value_heads=4, vocab_size=8192, max_position_embeddings=256, tie_word_embeddings=False)
    return transformer(LlamaForCausalLM(config)), (torch.zeros(8, 256, dtype=torch.long),), ['ids'], ['logits']


def bert():
    from transformers import BertConfig, BertForMaskedLM
    config = BertConfig(num_hidden_layers=3, hidden_size=768, num_attention_heads=12, intermediate_size=3072,
                        vocab_size=30522, max_position_embeddings=256, hidden_dropout_prob=0,
                        attention_probs_dropout_prob=0)
    model = BertForMaskedLM(config)
    return transformer(model), (torch.zeros(16, 128, dtype=torch.long),), ['ids'], ['logits']


def vit():
    import timm
    model = timm.create_model('vit_base_patch16_224', depth=3)
    return model.train(), (torch.zeros(16, 3, 224, 224),), ['image'], ['logits']


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(784, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(),
                                    nn.Linear(4096, 1000))

    def forward(self, x):
        return self.layers(x)


def mlp():
    return Perceptron(), (torch.zeros(64, 784),), ['x'], ['logits']


def resnet():
    import torchvision
    return torchvision.models.resnet18().train(), (torch.zeros(16, 3, 224, 224),), ['image'], ['logits']


class Recommender(nn.Module):
    """Dense features and 8 large tables of categories, their pairwise products, a perceptron on both (as DLRM)."""

    def __init__(self, tables=8, rows=200000, width=64):
        super().__init__()

        def perceptron(*widths):
            return nn.Sequential(*[layer for i, o in zip(widths, widths[1:]) for layer in (nn.Linear(i, o), nn.ReLU())])
        self.bottom = perceptron(13, 512, 256, width)
        self.tables = nn.ModuleList([nn.Embedding(rows, width) for _ in range(tables)])
        pairs = (tables + 1) * tables // 2
        self.top, self.out = perceptron(width + pairs, 1024, 512), nn.Linear(512, 1)
        i, j = torch.tril_indices(tables + 1, tables + 1, -1)
        self.register_buffer('pairs', i * (tables + 1) + j, persistent=False)

    def forward(self, x, categories):
        dense = self.bottom(x)
        rows = torch.stack([dense] + [table(categories[:, i]) for i, table in enumerate(self.tables)], 1)
        products = (rows @ rows.transpose(1, 2)).flatten(1).index_select(1, self.pairs)
        return self.out(self.top(torch.cat([dense, products], 1)))


def dlrm():
    return (Recommender(), (torch.zeros(512, 13), torch.zeros(512, 8, dtype=torch.long)), ['x', 'categories'],
            ['logits'])


class Experts(nn.Module):
    """A dense mixture of experts: every expert computes every token, weighed by a softmax of the gate."""

    def __init__(self, width=256, inner=1024, experts=8):
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.up = nn.Parameter(torch.randn(experts, width, inner) / math.sqrt(width))
        self.down = nn.Parameter(torch.randn(experts, inner, width) / math.sqrt(inner))

    def forward(self, x):
        weights = self.gate(x).softmax(-1)
        hidden = F.gelu(torch.einsum('btd,edf->ebtf', x, self.up))
        return torch.einsum('ebtf,efd,bte->btd', hidden, self.down, weights)


class Mixture(nn.Module):
    def __init__(self, layers=2, width=256, vocabulary=8192):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(layers + 1)])
        self.layers = nn.ModuleList([Experts(width) for _ in range(layers)])
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids):
        x = self.embed(ids)
        for norm, layer in zip(self.norms, self.layers):
            x = x + layer(norm(x))
        return self.head(self.norms[-1](x))


def experts():
    return Mixture(), (torch.zeros(8, 128, dtype=torch.long),), ['ids'], ['logits']


class MaskedHead(nn.Module):
    """An encoder whose head computes the masked positions alone: rows picked by an index into all samples."""

    def __init__(self, layers=2, width=256, vocabulary=30522, positions=128):
        super().__init__()
        self.embed, self.place = nn.Embedding(vocabulary, width), nn.Embedding(positions, width)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, activation='gelu', batch_first=True)
        self.layers = nn.ModuleList([copy.deepcopy(layer) for _ in range(layers)])
        self.transform, self.norm = nn.Linear(width, width), nn.LayerNorm(width)
        self.bias = nn.Parameter(torch.zeros(vocabulary))

    def forward(self, ids, masked, labels):
        x = self.embed(ids) + self.place.weight[:ids.shape[1]]
        for layer in self.layers:
            x = layer(x)
        rows = self.norm(F.gelu(self.transform(x.flatten(0, 1).index_select(0, masked))))
        return F.cross_entropy(F.linear(rows, self.embed.weight, self.bias), labels)


def masked_head():
    return (MaskedHead(), (torch.zeros(16, 128, dtype=torch.long), torch.zeros(320, dtype=torch.long),
                           torch.zeros(320, dtype=torch.long)), ['ids', 'masked', 'labels'], ['loss'])


MODELS = {function.__name__: function for function in
          (gpt2, llama, bert, vit, mlp, resnet, dlrm, experts, masked_head)}


def without_weights(model):
    """`model` with its large tensors as references into a file that nobody writes."""
    offset = 0
    for tensor in model.graph.initializer:
        size = len(tensor.raw_data)
        if size <= 1024:
            continue
        tensor.ClearField('raw_data')
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, value in (('location', 'weights.bin'), ('offset', offset), ('length', size)):
            tensor.external_data.add(key=key, value=str(value))
        offset += -(-size // 64) * 64
    return model


def without_traces(model):
    """`model` without where the exporting machine had its sources."""
    for node in model.graph.node:
        kept = [entry for entry in node.metadata_props if 'stack_trace' not in entry.key]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
    return model


def export(name):
    torch.manual_seed(0)
    model, inputs, names, outputs = MODELS[name]()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'model.onnx')
        torch.onnx.export(model, inputs, path, dynamo=True, external_data=False, input_names=names,
                          output_names=outputs, opset_version=20, verbose=False,
                          optimize=name != 'resnet')  # which would fold its batch normalisations
        exported = onnx.load(path)
    for tensor in exported.graph.initializer:
        if not tensor.raw_data and tensor.data_location != onnx.TensorProto.EXTERNAL:
            tensor.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(tensor), tensor.name))
    onnx.save(without_weights(without_traces(exported)), os.path.join(FOLDER, name + '.onnx'))
    print(name, os.path.getsize(os.path.join(FOLDER, name + '.onnx')), 'bytes')


if __name__ == '__main__':
    for name in sys.argv[1:] or MODELS:
        export(name)
