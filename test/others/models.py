"""The models of `export.py`: their modules, data, losses and optimizers, and how each is exported.

Modules and data come from test/module and test/models where those have them; sizes are chosen here so that most of
heads and hidden dimensions divide by 2, 3 and 4, some by none of them.
"""
import importlib.util
import os
import sys
from collections import namedtuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

HERE = os.path.dirname(os.path.abspath(__file__))


def load(name, *path):
    """The file test/PATH as a module called `name`: several of them are called export.py."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(HERE, '..', *path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


families = load('families', 'module', 'families.py')
small = load('small_models', 'models', 'export.py')

Model = namedtuple('Model', 'make data how dynamic optimizer loss clip')


def model(make, data, how, dynamic, optimizer, loss='cross-entropy', clip=None):
    """`how` is one of test/module/export.py's HOWS; a `dynamic` batch has no size in the file; gradients are scaled
    down to a norm of `clip`."""
    return Model(make, data, how, dynamic, optimizer, loss, clip)


def apart(make):
    """Modules whose constant parameters (norms of 1, biases of 0) are moved apart, so that the exporter merges none."""
    def build():
        module = make()
        with torch.no_grad():
            for value in module.parameters():
                if value.numel() > 1 and value.min() == value.max():
                    value += 0.1 * torch.randn_like(value)
        return module
    return build


class LossInGraph(nn.Module):
    """A model of transformers whose output is its loss."""

    def __init__(self, inner):
        super().__init__()
        self.inner = families.Logits(inner)

    def forward(self, input_ids, labels):
        return F.cross_entropy(self.inner(input_ids).flatten(0, 1), labels.flatten())


class Encoder(nn.Module):
    """nn.TransformerEncoder with a causal mask, which predicts vectors."""

    def __init__(self, width=24):
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, 12, 2 * width, dropout=0., activation='gelu', batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.enter, self.leave = nn.Linear(12, width), nn.Linear(width, 6)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return self.leave(self.layers(self.enter(x), mask=mask))


class DenseExperts(nn.Module):
    """Every expert computes every token, weighed by a softmax of the gate; the experts' weights are one tensor."""

    def __init__(self, width=24, inner=36, experts=6):
        super().__init__()
        self.tokens, self.norm = nn.Embedding(families.VOCABULARY, width), nn.LayerNorm(width)
        self.gate = nn.Linear(width, experts)
        self.up = nn.Parameter(torch.randn(experts, width, inner) / width**.5)
        self.down = nn.Parameter(torch.randn(experts, inner, width) / inner**.5)
        self.head = nn.Linear(width, families.VOCABULARY, bias=False)

    def forward(self, ids):
        x = self.norm(self.tokens(ids))
        hidden = F.gelu(torch.einsum('btd,edf->ebtf', x, self.up))
        mixed = torch.einsum('ebtf,efd,bte->btd', hidden, self.down, self.gate(x).softmax(-1))
        return self.head(x + mixed)


def mixer():
    from timm.models.mlp_mixer import MlpMixer
    return MlpMixer(num_classes=5, img_size=16, patch_size=4, embed_dim=24, num_blocks=2)


def resnet():
    """A ResNet with GroupNorm in place of BatchNorm."""
    from timm.models.resnet import BasicBlock, ResNet
    return ResNet(BasicBlock, (1, 1, 1, 1), channels=(12, 24, 24, 24), num_classes=5, stem_width=12,
                  norm_layer=lambda channels, **_: nn.GroupNorm(4, channels))


def dense():
    """A DenseNet: each layer concatenates its result to all those before it. Groups are normed, not batches."""
    from timm.models.densenet import DenseNet
    return DenseNet(growth_rate=12, block_config=(2, 2), num_classes=5, bn_size=2, norm_layer=grouped_norm)


def poolformer():
    """A PoolFormer: poolings mix the tokens."""
    from timm.models.metaformer import MetaFormer, Pooling
    return MetaFormer(num_classes=5, depths=(1, 1, 1, 1), dims=(12, 24, 24, 24), token_mixers=Pooling,
                      layer_scale_init_values=None, use_mlp_head=False)


def grouped_norm(channels, **_):
    return nn.Sequential(nn.GroupNorm(4, channels), nn.ReLU())


def vectors(rng, rows):
    return {'x': rng.standard_normal((rows, 8, 12)).astype(np.float32),
            'label': rng.standard_normal((rows, 8, 6)).astype(np.float32)}


def labeled(rng, rows):
    """Tokens, and the next ones as an input too."""
    data = families.language(rng, rows)
    return {'input_ids': data['input_ids'], 'labels': data['label']}


def masked(rng, rows):
    """Tokens, most of which have no label."""
    data = families.language(rng, rows)
    return dict(data, label=np.where(rng.random(data['label'].shape) < 0.3, data['label'], -100))


face, images, language = families.hugging_face, families.images, families.language
TEXT = dict(families.TEXT, hidden_size=48, intermediate_size=72, num_attention_heads=12)
SIX = dict(TEXT, num_attention_heads=6)  # as Gemma, NeoX and Phi: their heads are wider
ADAMW = 'adamw,lr=0.003,weight-decay=0.1'
LAMB = 'lamb,lr=0.01,weight-decay=0.01'
MOMENTUM = 'momentum,lr=0.05,momentum=0.9'

MODELS = {
    'qwen2': model(face('Qwen2ForCausalLM', 'Qwen2Config', wrap=LossInGraph, num_key_value_heads=6, **TEXT), labeled,
                   'default', False, 'adamw,lr=0.003,beta2=0.95,weight-decay=0.1', 'output:loss'),
    'mistral': model(face('MistralForCausalLM', 'MistralConfig', num_key_value_heads=1, sliding_window=4, **SIX),
                     language, 'default', True, ADAMW),
    'neox': model(face('GPTNeoXForCausalLM', 'GPTNeoXConfig', rotary_pct=0.5, **SIX), language,
                  'torchscript-training', True, 'adam,lr=0.003', clip=0.5),
    'opt': model(face('OPTForCausalLM', 'OPTConfig', hidden_size=48, ffn_dim=72, num_hidden_layers=2,
                      num_attention_heads=12, vocab_size=families.VOCABULARY, max_position_embeddings=16, dropout=0.,
                      word_embed_proj_dim=48, pad_token_id=0, bos_token_id=0, eos_token_id=1), language,
                 'default', True, LAMB),
    'bloom': model(face('BloomForCausalLM', 'BloomConfig', hidden_size=48, n_layer=2, n_head=12,
                        vocab_size=families.VOCABULARY, hidden_dropout=0., attention_dropout=0.), language,
                   'torchscript-training', False, ADAMW),
    'roberta': model(apart(face('RobertaForMaskedLM', 'RobertaConfig', **TEXT, **families.STILL)), masked,
                     'default', False, 'adam,lr=0.003', clip=0.3),
    'gemma2': model(face('Gemma2ForCausalLM', 'Gemma2Config', head_dim=8, sliding_window=4, num_key_value_heads=2,
                         **SIX), language, 'unoptimized', False, MOMENTUM),
    'phi': model(apart(face('PhiForCausalLM', 'PhiConfig', partial_rotary_factor=0.5, resid_pdrop=0., embd_pdrop=0.,
                            attention_dropout=0., **SIX)), language, 'default', False, LAMB),
    't5': model(face('T5ForConditionalGeneration', 'T5Config', eager=True, d_model=48, d_kv=4, d_ff=72, num_layers=1,
                     num_heads=12, vocab_size=families.VOCABULARY, dropout_rate=0., relative_attention_num_buckets=8),
                families.pairs, 'torchscript-training', False, ADAMW, clip=1.0),
    'vit': model(families.timm('vit_tiny_patch16_224', img_size=16, patch_size=8, embed_dim=48, depth=2, num_heads=6),
                 images(16), 'default', False, 'adam,lr=0.002', clip=0.5),
    'convnext': model(apart(families.timm('convnext_atto', depths=(1, 1, 1, 1), dims=(12, 24, 24, 24))), images(32),
                      'default', False, MOMENTUM),
    'swin': model(families.timm('swin_tiny_patch4_window7_224', img_size=16, patch_size=2, window_size=4, embed_dim=24,
                                depths=(2, 2), num_heads=(3, 6), drop_path_rate=0.), images(16),
                  'torchscript-training', False, ADAMW),
    'mixer': model(apart(mixer), images(16), 'default', True, LAMB),
    'resnet': model(apart(resnet), images(32), 'default', False, MOMENTUM),
    'lstm': model(lambda: families.Recurrent(nn.LSTM), language, 'torchscript-training', True, 'adam,lr=0.005',
                  clip=0.1),
    'gru': model(lambda: families.Recurrent(nn.GRU), language, 'default', False, 'adagrad,lr=0.02'),
    'dlrm': model(small.Recommender, small.dlrm_data, 'default', True, 'nesterov,lr=0.05,momentum=0.9',
                  'bce-with-logits'),
    'experts': model(families.Experts, language, 'torchscript-training', True, LAMB),
    'dense_experts': model(DenseExperts, language, 'default', True, ADAMW),
    'unet': model(small.UNet, small.unet_data, 'torchscript-training', True, MOMENTUM),
    'falcon': model(face('FalconForCausalLM', 'FalconConfig', hidden_size=48, num_hidden_layers=2, num_attention_heads=6,
                         vocab_size=families.VOCABULARY, multi_query=True, parallel_attn=True, hidden_dropout=0.,
                         attention_dropout=0., bos_token_id=0, eos_token_id=1), language, 'default', True, ADAMW),
    'stablelm': model(apart(face('StableLmForCausalLM', 'StableLmConfig', partial_rotary_factor=0.5, hidden_dropout=0.,
                                 attention_dropout=0., use_qkv_bias=True, num_key_value_heads=3, **SIX)), language,
                      'default', False, 'adam,lr=0.003', clip=0.5),
    'granite': model(face('GraniteForCausalLM', 'GraniteConfig', num_key_value_heads=2, embedding_multiplier=2.,
                          residual_multiplier=0.5, logits_scaling=2., **SIX), language, 'torchscript-training', True,
                     LAMB),
    'densenet': model(apart(dense), images(16), 'default', False, MOMENTUM),
    'mnasnet': model(families.timm('mnasnet_small'), images(32), 'default', False, 'adam,lr=0.002'),
    'poolformer': model(apart(poolformer), images(32), 'torchscript-training', False, ADAMW),
    'encoder': model(Encoder, vectors, 'torchscript-training', False, 'adam,lr=0.003', 'mse', clip=0.5),
}
