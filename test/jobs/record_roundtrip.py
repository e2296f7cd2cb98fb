#!/usr/bin/env python3
"""Exports small models of twelve families for test/jobs/roundtrip.py and records what their modules give.

  record_roundtrip.py [NAME..]
  record_roundtrip.py --check          loads saved files into the modules: [[NAME, FILE, LOGITS.npy], ..] on stdin

needs torch, torchvision, timm, transformers, onnx and numpy (scripts/setup --dev); nothing here is needed to run the
tests. Writes into the folder roundtrip: NAME-default.onnx.xz (the exporter's default, static shapes),
NAME-unoptimized.onnx.xz (optimize=False, a dynamic batch), and NAME.json: the names, types and shapes of the module's
state_dict, which of them are one tensor, and the module's logits. The weights with which it computes these are
roundtrip.weights, so no file holds them.
"""
import json
import lzma
import os
import sys
import warnings

import numpy as np
import onnx
import torch
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import roundtrip  # noqa: E402, beside this file

VOCABULARY, BATCH, TOKENS = 24, 4, 6


class Text(nn.Module):
    """The logits of a language model, or of an encoder, as the only output."""

    def __init__(self, model):
        super().__init__()
        self.m = model

    def forward(self, input_ids):
        cached = 'use_cache' in self.m.forward.__code__.co_varnames
        return self.m(input_ids=input_ids, **({'use_cache': False} if cached else {})).logits


class Pairs(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.m = model

    def forward(self, input_ids, decoder_input_ids):
        return self.m(input_ids=input_ids, decoder_input_ids=decoder_input_ids, use_cache=False).logits


class Images(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.m = model

    def forward(self, pixel_values):
        return self.m(pixel_values=pixel_values).logits


class Contrastive(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.m = model

    def forward(self, input_ids, pixel_values):
        return self.m(input_ids=input_ids, pixel_values=pixel_values).logits_per_image


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, 8)
        self.layers = nn.LSTM(8, 6, 2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(12, VOCABULARY)

    def forward(self, input_ids):
        return self.head(self.layers(self.tokens(input_ids))[0])


class Block(nn.Module):
    """A residual block of a diffusion model's UNet, which a time shifts."""

    def __init__(self, inputs, outputs, times=8):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(2, inputs), nn.Conv2d(inputs, outputs, 3, padding=1)
        self.time = nn.Linear(times, outputs)
        self.norm2, self.conv2 = nn.GroupNorm(2, outputs), nn.Conv2d(outputs, outputs, 3, padding=1)
        self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()
        self.act = nn.SiLU()

    def forward(self, x, time):
        hidden = self.conv1(self.act(self.norm1(x))) + self.time(self.act(time))[:, :, None, None]
        return self.skip(x) + self.conv2(self.act(self.norm2(hidden)))


class UNet(nn.Module):
    """The UNet of a diffusion model in small; its times' frequencies are a buffer that is not persistent."""

    def __init__(self):
        super().__init__()
        self.register_buffer('frequencies', torch.exp(-torch.arange(4.)), persistent=False)
        self.time, self.first = nn.Linear(8, 8), nn.Conv2d(3, 4, 3, padding=1)
        self.down, self.middle, self.up = Block(4, 4), Block(4, 8), Block(12, 4)
        self.shrink, self.grow = nn.Conv2d(4, 4, 3, 2, 1), nn.ConvTranspose2d(8, 8, 2, 2)
        self.last = nn.Conv2d(4, 3, 3, padding=1)

    def forward(self, pixel_values, times):
        angles = times * self.frequencies
        time = self.time(torch.cat([angles.sin(), angles.cos()], 1))
        high = self.down(self.first(pixel_values), time)
        low = self.grow(self.middle(self.shrink(high), time))
        return self.last(self.up(torch.cat([high, low], 1), time))


def transformers_model(wrap, model, config, eager=False, **options):
    def make():
        import transformers
        settings = getattr(transformers, config)(**options)
        settings._attn_implementation = 'eager' if eager else 'sdpa'
        return wrap(getattr(transformers, model)(settings))
    return make


def swin():
    import torchvision
    return torchvision.models.SwinTransformer([2, 2], 8, [2], [2], [2, 2], stochastic_depth_prob=0., num_classes=5)


def convnext():
    import timm
    return timm.create_model('convnext_atto', num_classes=5, depths=(1, 1, 1, 1), dims=(4, 8, 8, 8))


def resnet():
    from timm.models.resnet import BasicBlock, ResNet
    return ResNet(BasicBlock, (1, 1, 1, 1), num_classes=5, channels=(4, 8, 8, 8), stem_width=4, stem_type='deep')


IDS = {'input_ids': ([BATCH, TOKENS], VOCABULARY)}
PAIR = {**IDS, 'decoder_input_ids': ([BATCH, 4], VOCABULARY)}
TEXT = dict(hidden_size=16, intermediate_size=24, num_hidden_layers=1, num_attention_heads=2, vocab_size=VOCABULARY,
            max_position_embeddings=8, pad_token_id=0, bos_token_id=0, eos_token_id=1)
STILL = dict(hidden_dropout_prob=0., attention_probs_dropout_prob=0.)
SIGHT = dict(hidden_size=16, intermediate_size=24, num_hidden_layers=1, num_attention_heads=2, image_size=8, patch_size=4)


def pixels(size):
    return {'pixel_values': ([BATCH, 3, size, size], None)}


# name: module, inputs, the mode of the export
FAMILIES = {
    'gpt2': (transformers_model(Text, 'GPT2LMHeadModel', 'GPT2Config', n_embd=16, n_layer=1, n_head=2,
                                vocab_size=VOCABULARY, n_positions=8, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0,
                                bos_token_id=0, eos_token_id=1), IDS, False),
    'llama': (transformers_model(Text, 'LlamaForCausalLM', 'LlamaConfig', num_key_value_heads=1, **TEXT), IDS, False),
    't5': (transformers_model(Pairs, 'T5ForConditionalGeneration', 'T5Config', eager=True, d_model=16, d_kv=8, d_ff=24,
                              num_layers=1, num_heads=2, vocab_size=VOCABULARY, dropout_rate=0.,
                              relative_attention_num_buckets=8), PAIR, False),
    'bart': (transformers_model(Pairs, 'BartForConditionalGeneration', 'BartConfig', d_model=16, encoder_layers=1,
                                decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
                                encoder_ffn_dim=24, decoder_ffn_dim=24, vocab_size=VOCABULARY, dropout=0.,
                                max_position_embeddings=8, pad_token_id=0, decoder_start_token_id=0), PAIR, False),
    'bert': (transformers_model(Text, 'BertForMaskedLM', 'BertConfig', **TEXT, **STILL), IDS, False),
    'vit': (transformers_model(Images, 'ViTForImageClassification', 'ViTConfig', num_labels=5, **SIGHT, **STILL),
            pixels(8), False),
    'swin': (swin, {'x': ([BATCH, 3, 16, 16], None)}, False),
    'convnext': (convnext, {'x': ([BATCH, 3, 32, 32], None)}, False),
    'resnet': (resnet, {'x': ([BATCH, 3, 16, 16], None)}, True),
    'lstm': (Recurrent, IDS, False),
    'clip': (transformers_model(Contrastive, 'CLIPModel', 'CLIPConfig', text_config=TEXT, vision_config=SIGHT,
                                projection_dim=8), {**IDS, **pixels(8)}, False),
    'unet': (UNet, {**pixels(8), 'times': ([BATCH, 1], None)}, False),
}


def simplify(module):
    """Rounds the weights in the ONNX file, so that it is small when it is packed: nothing depends on them."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_((parameter * 256).round() / 256)


def export(module, inputs, path, how):
    options = {}
    if how == 'unoptimized':
        options = dict(optimize=False, dynamic_shapes={name: {0: 'batch'} for name in inputs})
    torch.onnx.export(module, (), path, kwargs=inputs, input_names=list(inputs), output_names=['logits'], dynamo=True,
                      external_data=False, verbose=False, **options)
    model = onnx.load(path)
    os.remove(path)
    # What the exporter says of the machine and of Python's stack is not read.
    for node in model.graph.node:
        kept = [p for p in node.metadata_props if p.key.rsplit('.', 1)[-1] in ('fx_node', 'name_scopes', 'rule_name')]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
        node.doc_string = ''
    for function in model.functions:
        function.doc_string = ''
    return lzma.compress(model.SerializeToString(), preset=9)


def describe(module):
    """Names, types, shapes and centres of the state_dict; the names that are one tensor; the integers."""
    names, groups, integers = {}, {}, {}
    for name, value in module.state_dict(keep_vars=True).items():
        groups.setdefault(id(value) if isinstance(value, nn.Parameter) else name, []).append(name)
        centre = float(value.reshape(-1)[0]) if value.is_floating_point() and value.min() == value.max() else 0.
        names[name] = [str(value.dtype).removeprefix('torch.'), list(value.shape), round(centre, 6)]
        if not value.is_floating_point():
            integers[name] = value.tolist()
    return {'names': names, 'tied': [group for group in groups.values() if len(group) > 1], 'integers': integers}


def record(name):
    make, inputs, trains = FAMILIES[name]
    torch.manual_seed(1)
    module = make()
    facts = {'inputs': inputs, 'prefix': 'm.' if hasattr(module, 'm') else ''}
    facts.update(describe(module.m if hasattr(module, 'm') else module))
    values = {key: torch.from_numpy(value) for key, value in roundtrip.samples(facts, BATCH).items()}
    simplify(module)
    module.train(trains)
    packed = {how: export(module, values, os.path.join(HERE, f'{name}.tmp'), how) for how in roundtrip.HOWS}
    state = {key: torch.from_numpy(np.array(value)) for key, value in roundtrip.weights(facts).items()}
    (module.m if hasattr(module, 'm') else module).load_state_dict(state, strict=True)
    with torch.no_grad():
        logits = module.eval()(*values.values())
    facts['logits'] = {'shape': list(logits.shape), 'values': [float(f'{x:.7g}') for x in logits.reshape(-1).tolist()]}
    folder = os.path.join(HERE, 'roundtrip')
    os.makedirs(folder, exist_ok=True)
    for how, data in packed.items():
        with open(os.path.join(folder, f'{name}-{how}.onnx.xz'), 'wb') as file:
            file.write(data)
    with open(os.path.join(folder, f'{name}.json'), 'w') as file:
        json.dump(facts, file, separators=(',', ':'))
        file.write('\n')
    print(name, {how: len(data) for how, data in packed.items()}, flush=True)


def check(files):
    """The strict load of saved files, and the module's logits with them against the program's."""
    from safetensors.torch import load_file
    failed = 0
    for name, path, logits in files:
        make, inputs, _ = FAMILIES[name]
        module = make().eval()
        try:
            (module.m if hasattr(module, 'm') else module).load_state_dict(load_file(path), strict=True)
        except RuntimeError as error:
            print(f'{path}: {error}')
            failed += 1
            continue
        with torch.no_grad():
            got = module(*(torch.from_numpy(x) for x in roundtrip.samples({'inputs': inputs}, BATCH).values())).numpy()
        want = np.load(logits)
        if not np.abs(got - want).max() < roundtrip.TOLERANCE * np.abs(want).max():
            print(f'{path}: logits differ by {np.abs(got - want).max():.1e} of {np.abs(want).max():.1e}')
            failed += 1
    return 1 if failed else 0


def main():
    warnings.simplefilter('ignore')
    if sys.argv[1:] == ['--check']:
        return check(json.load(sys.stdin))
    for name in sys.argv[1:] or FAMILIES:
        record(name)
    return 0


if __name__ == '__main__':
    sys.exit(main())
