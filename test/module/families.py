"""The models of `export.py --families`: small ones of every family of transformers, timm and torchvision, at default
settings of each exporter."""
import os

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

BATCH, TOKENS, VOCABULARY = 4, 8, 48


class Logits(nn.Module):
    """The logits of a transformers model, as its only output."""

    def __init__(self, model):
        super().__init__()
        self.m = model

    def forward(self, *inputs):
        names = self.m.forward.__code__.co_varnames
        options = {'use_cache': False} if 'use_cache' in names else {}
        if len(inputs) == 2:
            return self.m(input_ids=inputs[0], decoder_input_ids=inputs[1], **options).logits
        return self.m(inputs[0], **options).logits


class Pooled(nn.Module):
    """A head on the mean of an encoder's states."""

    def __init__(self, model):
        super().__init__()
        self.m, self.head = model, nn.Linear(32, 5)

    def forward(self, x):
        return self.head(self.m(x).last_hidden_state.mean(1))


class Experts(nn.Module):
    """A dense mixture of experts, the best two of four."""

    def __init__(self):
        super().__init__()
        self.tokens, self.gate, self.norm = nn.Embedding(VOCABULARY, 32), nn.Linear(32, 4, bias=False), nn.LayerNorm(32)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(32, 48), nn.GELU(), nn.Linear(48, 32)) for _ in range(4))
        self.last, self.head = nn.LayerNorm(32), nn.Linear(32, VOCABULARY)
        for expert in self.experts:
            nn.init.zeros_(expert[0].bias)
            nn.init.zeros_(expert[2].bias)

    def forward(self, ids):
        hidden = self.norm(self.tokens(ids))
        weights = torch.softmax(self.gate(hidden), -1)
        best, index = torch.topk(weights, 2, -1)
        gates = torch.zeros_like(weights).scatter(-1, index, best)
        return self.head(self.last(hidden + sum(gates[..., k:k + 1] * e(hidden) for k, e in enumerate(self.experts))))


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, 16)
        self.layers = kind(16, 12, 2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(24, VOCABULARY)

    def forward(self, ids):
        return self.head(self.layers(self.tokens(ids))[0])


def language(rng, rows):
    ids = rng.integers(2, VOCABULARY, (rows, TOKENS + 1))
    return {'input_ids': ids[:, :-1].copy(), 'label': ids[:, 1:].copy()}


def pairs(rng, rows):
    def ids(tokens):
        return rng.integers(2, VOCABULARY, (rows, tokens))
    return {'input_ids': ids(TOKENS), 'decoder_input_ids': ids(6), 'label': ids(6)}


def images(size):
    def make(rng, rows):
        return {'x': rng.standard_normal((rows, 3, size, size)).astype(np.float32), 'label': rng.integers(0, 5, rows)}
    return make


def sound(rng, rows):
    return {'x': rng.standard_normal((rows, 8, 16)).astype(np.float32), 'label': rng.integers(0, 5, rows)}


def hugging_face(model, config, wrap=Logits, eager=False, **options):
    def make():
        import transformers
        settings = getattr(transformers, config)(**options)
        settings._attn_implementation = 'eager' if eager or hugging_face.eager else 'sdpa'
        try:
            return wrap(getattr(transformers, model)(settings))
        except ValueError:
            settings._attn_implementation = 'eager'
            return wrap(getattr(transformers, model)(settings))
    return make


hugging_face.eager = False  # TorchScript does not export scaled_dot_product_attention with a mask


def timm(name, **options):
    def make():
        import timm
        return timm.create_model(name, num_classes=5, **options)
    return make


def vision(make):
    def build():
        import torchvision
        return make(torchvision.models)
    return build


def whisper():
    from transformers import WhisperConfig
    from transformers.models.whisper.modeling_whisper import WhisperEncoder
    return Pooled(WhisperEncoder(WhisperConfig(
        d_model=32, encoder_layers=2, encoder_attention_heads=4, encoder_ffn_dim=48, num_mel_bins=8,
        max_source_positions=8, dropout=0., vocab_size=VOCABULARY)))


TEXT = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, vocab_size=VOCABULARY,
            max_position_embeddings=16, pad_token_id=0, bos_token_id=0, eos_token_id=1)
GROUPED = dict(TEXT, num_key_value_heads=2)
STILL = dict(hidden_dropout_prob=0., attention_probs_dropout_prob=0.)
ENCODER = dict(TEXT, **STILL)
IMAGE = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, image_size=16,
             patch_size=8, num_labels=5, **STILL)
SEQUENCES = dict(d_model=32, encoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4,
                 encoder_ffn_dim=48, decoder_ffn_dim=48, vocab_size=VOCABULARY, dropout=0.,
                 max_position_embeddings=16, pad_token_id=0, decoder_start_token_id=0)
SMALL_VIT = dict(img_size=16, patch_size=8, embed_dim=32, depth=2, num_heads=4)
SMALL_SWIN = dict(img_size=16, patch_size=2, window_size=4, embed_dim=16, depths=(2, 2), num_heads=(2, 4),
                  drop_path_rate=0.)

# name: module, data
MODELS = {
    'gpt2': (hugging_face('GPT2LMHeadModel', 'GPT2Config', n_embd=32, n_layer=2, n_head=4, vocab_size=VOCABULARY,
                          n_positions=16, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0), language),
    'llama': (hugging_face('LlamaForCausalLM', 'LlamaConfig', tie_word_embeddings=True, **GROUPED), language),
    'gemma2': (hugging_face('Gemma2ForCausalLM', 'Gemma2Config', head_dim=8, sliding_window=4, **GROUPED), language),
    'gemma3': (hugging_face('Gemma3ForCausalLM', 'Gemma3TextConfig', head_dim=8, sliding_window=4, **GROUPED), language),
    'qwen2': (hugging_face('Qwen2ForCausalLM', 'Qwen2Config', tie_word_embeddings=True, **GROUPED), language),
    'qwen3': (hugging_face('Qwen3ForCausalLM', 'Qwen3Config', head_dim=8, **GROUPED), language),
    'olmo2': (hugging_face('Olmo2ForCausalLM', 'Olmo2Config', **GROUPED), language),
    'neox': (hugging_face('GPTNeoXForCausalLM', 'GPTNeoXConfig', **TEXT), language),
    'phi': (hugging_face('PhiForCausalLM', 'PhiConfig', **TEXT), language),
    'bloom': (hugging_face('BloomForCausalLM', 'BloomConfig', hidden_size=32, n_layer=2, n_head=4,
                           vocab_size=VOCABULARY), language),
    'opt': (hugging_face('OPTForCausalLM', 'OPTConfig', hidden_size=32, ffn_dim=48, num_hidden_layers=2,
                         num_attention_heads=4, vocab_size=VOCABULARY, max_position_embeddings=16, dropout=0.,
                         word_embed_proj_dim=32, pad_token_id=0, bos_token_id=0, eos_token_id=1), language),
    't5': (hugging_face('T5ForConditionalGeneration', 'T5Config', eager=True, d_model=32, d_kv=8, d_ff=48, num_layers=2,
                        num_heads=4, vocab_size=VOCABULARY, dropout_rate=0., relative_attention_num_buckets=8), pairs),
    'bart': (hugging_face('BartForConditionalGeneration', 'BartConfig', decoder_layers=2, **SEQUENCES), pairs),
    'marian': (hugging_face('MarianMTModel', 'MarianConfig', decoder_layers=1, **SEQUENCES), pairs),
    'bert': (hugging_face('BertForMaskedLM', 'BertConfig', **ENCODER), language),
    'roberta': (hugging_face('RobertaForMaskedLM', 'RobertaConfig', **ENCODER), language),
    'albert': (hugging_face('AlbertForMaskedLM', 'AlbertConfig', embedding_size=16, **ENCODER), language),
    'electra': (hugging_face('ElectraForMaskedLM', 'ElectraConfig', embedding_size=16, **ENCODER), language),
    'deberta': (hugging_face('DebertaV2ForMaskedLM', 'DebertaV2Config', relative_attention=True,
                             pos_att_type=['c2p', 'p2c'], max_relative_positions=8, **ENCODER), language),
    'distilbert': (hugging_face('DistilBertForMaskedLM', 'DistilBertConfig', dim=32, hidden_dim=48, n_layers=2,
                                n_heads=4, vocab_size=VOCABULARY, max_position_embeddings=16, dropout=0.,
                                attention_dropout=0.), language),
    'whisper': (whisper, sound),
    'vit': (hugging_face('ViTForImageClassification', 'ViTConfig', **IMAGE), images(16)),
    'deit': (hugging_face('DeiTForImageClassification', 'DeiTConfig', **IMAGE), images(16)),
    'dinov2': (hugging_face('Dinov2ForImageClassification', 'Dinov2Config', hidden_size=32, mlp_ratio=2,
                            num_hidden_layers=2, num_attention_heads=4, image_size=16, patch_size=8, num_labels=5),
               images(16)),
    'clip': (hugging_face('CLIPVisionModel', 'CLIPVisionConfig', Pooled, hidden_size=32, intermediate_size=48,
                          num_hidden_layers=2, num_attention_heads=4, image_size=16, patch_size=8), images(16)),
    'swin': (hugging_face('SwinForImageClassification', 'SwinConfig', eager=True, embed_dim=16, depths=[2, 2],
                          num_heads=[2, 4], window_size=2, image_size=16, patch_size=2, num_labels=5,
                          drop_path_rate=0.), images(16)),
    'convnext': (hugging_face('ConvNextForImageClassification', 'ConvNextConfig', hidden_sizes=[8, 16], depths=[1, 2],
                              num_stages=2, patch_size=2, image_size=16, num_labels=5), images(16)),
    'timm-vit': (timm('vit_tiny_patch16_224', **SMALL_VIT), images(16)),
    'timm-deit3': (timm('deit3_small_patch16_224', drop_path_rate=0., **SMALL_VIT), images(16)),
    'timm-cait': (timm('cait_xxs24_224', img_size=16, patch_size=8, embed_dim=16, depth=2, num_heads=2), images(16)),
    'timm-swin': (timm('swin_tiny_patch4_window7_224', **SMALL_SWIN), images(16)),
    'timm-convnext': (timm('convnext_atto', depths=(1, 1, 1, 1), dims=(8, 16, 16, 16)), images(32)),
    'timm-mobilenet': (timm('mobilenetv3_small_050'), images(32)),
    'vision-vit': (vision(lambda m: m.VisionTransformer(16, 8, 2, 4, 32, 48, num_classes=5)), images(16)),
    'vision-swin': (vision(lambda m: m.SwinTransformer([2, 2], 16, [2, 2], [2, 4], [4, 4], stochastic_depth_prob=0.,
                                                       num_classes=5)), images(16)),
    'vision-convnext': (vision(lambda m: m.ConvNeXt([m.convnext.CNBlockConfig(8, 16, 1),
                                                     m.convnext.CNBlockConfig(16, None, 2)],
                                                    stochastic_depth_prob=0., num_classes=5)), images(16)),
    'vision-resnet': (vision(lambda m: m.ResNet(m.resnet.BasicBlock, [1, 1, 1, 1], num_classes=5)), images(32)),
    'experts': (Experts, language),
    'lstm': (lambda: Recurrent(nn.LSTM), language),
    'gru': (lambda: Recurrent(nn.GRU), language),
}


def main(out, names, record):
    for name in names or MODELS:
        make, make_data = MODELS[name]
        for how in ('default', 'unoptimized', 'torchscript', 'torchscript-training'):
            hugging_face.eager = how.startswith('torchscript')
            try:
                record(os.path.join(out, f'{name}-{how}'), make, make_data, how, how == 'torchscript-training')
                print('exported', name, how, flush=True)
            except Exception as error:  # Not every model exports in every way.
                print('no export', name, how, str(error).splitlines()[0][:150], flush=True)
    return 0
