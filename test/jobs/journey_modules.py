"""Modules that the journeys of test/jobs/journeys.py train: tiny ones, with the names that their libraries give."""
import torch
from torch import nn
from torch.nn import functional as F

from record_roundtrip import FAMILIES, Recurrent, Text, UNet, resnet, transformers_model

VOCABULARY, TOKENS = 24, 6


def family(name):
    return FAMILIES[name][0]


class Classes(nn.Module):
    """The last time step's class of a sequence of tokens."""

    def __init__(self):
        super().__init__()
        self.m = Recurrent()

    def forward(self, input_ids):
        return self.m(input_ids)[:, -1]


class Recommender(nn.Module):
    """DLRM in small: bags of categories and dense features, and the products of all pairs."""

    def __init__(self, rows=(24, 16), width=4):
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(n, width, mode=mode) for n, mode in zip(rows, ('sum', 'mean')))
        self.bottom = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, width))
        self.top = nn.Sequential(nn.Linear(width + 3, 8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, dense, users, items):
        dense = self.bottom(dense)
        features = torch.stack([dense, self.tables[0](users), self.tables[1](items)], 1)
        products = features @ features.transpose(1, 2)
        pairs = torch.stack([products[:, 0, 1], products[:, 0, 2], products[:, 1, 2]], 1)
        return self.top(torch.cat([dense, pairs], 1))[:, 0]


class Diffusion(nn.Module):
    """The noise that a UNet finds in a noised image, for the steps of a schedule."""

    def __init__(self, steps=10):
        super().__init__()
        self.m = UNet()
        self.register_buffer('kept', torch.linspace(0.99, 0.1, steps), persistent=False)

    def forward(self, images, noise, steps):
        kept = self.kept[steps][:, None, None, None]
        return self.m(kept.sqrt() * images + (1 - kept).sqrt() * noise, steps[:, None].float())


class Adapted(nn.Module):
    """A linear layer that stays, and a product of two small matrices that is added to it and trains."""

    def __init__(self, base, rank=2, scale=4.):
        super().__init__()
        self.base, self.scale = base, scale
        self.lora_A = nn.Linear(base.in_features, rank, bias=False)
        self.lora_B = nn.Linear(rank, base.out_features, bias=False)
        nn.init.zeros_(self.lora_B.weight)

    def forward(self, x):
        return self.base(x) + self.scale * self.lora_B(self.lora_A(x))


def adapted():
    """Llama with adapters on the queries and values of each layer; all else is frozen."""
    module = family('llama')()
    for layer in module.m.model.layers:
        for name in ('q_proj', 'v_proj'):
            setattr(layer.self_attn, name, Adapted(getattr(layer.self_attn, name)))
    for name, parameter in module.named_parameters():
        parameter.requires_grad_('lora_' in name)
    return module


class Contrast(nn.Module):
    """CLIP's contrastive loss of a batch, in the graph, and the logits that it is of."""

    def __init__(self):
        super().__init__()
        self.m = family('clip')().m

    def forward(self, input_ids, pixel_values):
        logits = self.m(input_ids=input_ids, pixel_values=pixel_values).logits_per_image
        own = torch.arange(logits.shape[0], device=logits.device)
        return (F.cross_entropy(logits, own) + F.cross_entropy(logits.T, own)) / 2, logits


def timm_model(name, **options):
    def make():
        import timm
        return timm.create_model(name, **options)
    return make


def large_llama(layers=22):
    """A Llama of 1.1 billion parameters that has no values, and the values of its buffers."""
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding
    settings = dict(hidden_size=2048, intermediate_size=5632, num_hidden_layers=layers, num_attention_heads=32,
                    num_key_value_heads=4, vocab_size=32000, max_position_embeddings=2048)
    with torch.device('meta'):
        module = transformers_model(Text, 'LlamaForCausalLM', 'LlamaConfig', **settings)().eval()
    rotary = LlamaRotaryEmbedding(LlamaConfig(**settings))
    return module, {f'm.model.rotary_emb.{name}': value for name, value in rotary.named_buffers()}
