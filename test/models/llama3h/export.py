#!/usr/bin/env python3
"""Exports a small Llama with 3 heads, which divide evenly over no even mesh axis.

  export.py OUT_DIR        needs torch, transformers, onnx, onnxscript and numpy

Writes model.onnx (the loss is the output `loss`; batch 12, 8 tokens) and data.npz
(10 batches).  Nothing here is needed to run the tests.
"""
import sys
import numpy as np
import onnx
import torch
from transformers import LlamaConfig, LlamaForCausalLM

BATCH, TOKENS, VOCABULARY, STEPS = 12, 8, 32, 10


class WithLoss(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.m = LlamaForCausalLM(LlamaConfig(
            vocab_size=VOCABULARY, hidden_size=24, intermediate_size=40, num_hidden_layers=1,
            num_attention_heads=3, num_key_value_heads=3, max_position_embeddings=16,
            tie_word_embeddings=False, attn_implementation='eager', use_cache=False))

    def forward(self, input_ids, labels):
        logits = self.m(input_ids=input_ids).logits
        return torch.nn.functional.cross_entropy(logits.reshape(-1, VOCABULARY), labels.reshape(-1))


def strip_stack_traces(path):
    """Drops the exporter's stack traces, which name files of the exporting machine."""
    model = onnx.load(path)
    for node in model.graph.node:
        kept = [p for p in node.metadata_props if 'stack_trace' not in p.key]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
    onnx.save(model, path)


def main(out):
    torch.manual_seed(3)
    model = WithLoss().train()
    ids = torch.randint(0, VOCABULARY, (BATCH, TOKENS))
    # A clone: the exporter takes one tensor given twice for one input.
    torch.onnx.export(model, (ids, ids.clone()), out + '/model.onnx', dynamo=True, external_data=False,
                      input_names=['input_ids', 'labels'], output_names=['loss'])
    strip_stack_traces(out + '/model.onnx')
    rng = np.random.default_rng(4)
    tokens = rng.integers(0, VOCABULARY, (BATCH * STEPS, TOKENS + 1))
    labels = tokens[:, 1:].copy()
    labels[rng.random(labels.shape) < 0.1] = -100  # uneven counts over ranks and microbatches
    np.savez_compressed(out + '/data.npz', input_ids=tokens[:, :-1], labels=labels)


if __name__ == '__main__':
    main(sys.argv[1] if len(sys.argv) > 1 else '.')
