"""The jobs of journeys.py, in the words of dpc-compile, dpc-run and PyTorch."""
import dataclasses
from collections.abc import Callable

import numpy as np
import torch
from torch.nn import functional as F

import journey_modules as modules

VOCABULARY, TOKENS = modules.VOCABULARY, modules.TOKENS


def tokens(rng, count, length=TOKENS):
    return rng.integers(2, VOCABULARY, (count, length))


def images(rng, count, size):
    return rng.standard_normal((count, 3, size, size)).astype(np.float32)


def text_data(rng, count):
    return {'input_ids': tokens(rng, count), 'label': tokens(rng, count)}


def pair_data(rng, count):
    return {'input_ids': tokens(rng, count), 'decoder_input_ids': tokens(rng, count, 4), 'label': tokens(rng, count, 4)}


def class_data(rng, count):
    return {'input_ids': tokens(rng, count), 'label': rng.integers(0, VOCABULARY, count)}


def image_data(size):
    return lambda rng, count: {'x': images(rng, count, size), 'label': rng.integers(0, 7, count)}


def click_data(rng, count):
    return {'dense': rng.standard_normal((count, 5)).astype(np.float32), 'users': rng.integers(0, 24, (count, 3)),
            'items': rng.integers(0, 16, (count, 2)), 'label': rng.integers(0, 2, count).astype(np.float32)}


def noise_data(rng, count):
    noise = images(rng, count, 8)
    return {'images': images(rng, count, 8), 'noise': noise, 'steps': rng.integers(0, 10, count), 'label': noise}


def captioned_data(rng, count):
    return {'input_ids': tokens(rng, count), 'pixel_values': images(rng, count, 8)}


def cross_entropy(**options):
    """The loss of logits whose classes are last."""
    def loss(logits, label):
        return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), label.reshape(-1), **options)
    return loss


def adamw(lr):
    return lambda named: torch.optim.AdamW([p for _, p in named], lr=lr, weight_decay=0.01)


def adamw_of_groups(named):
    """AdamW without decay for biases and norms."""
    plain = [p for name, p in named if name.endswith('.bias') or '.ln_' in name]
    others = [p for name, p in named if not (name.endswith('.bias') or '.ln_' in name)]
    return torch.optim.AdamW([{'params': plain, 'weight_decay': 0.}, {'params': others}], lr=0.01, weight_decay=0.1)


def momentum(named):
    return torch.optim.SGD([p for _, p in named], lr=0.05, momentum=0.9)


def adagrad(named):
    return torch.optim.Adagrad([p for _, p in named], lr=0.2)


@dataclasses.dataclass
class Job:
    name: str
    make: Callable                  # the module
    data: Callable                  # arrays of so many samples; label is what the loss compares outputs with
    loss: Callable | None           # of outputs and labels; None: the module's first output
    optimizer: Callable             # PyTorch's, of named parameters
    flags: list                     # of dpc-compile
    run: list = dataclasses.field(default_factory=list)      # of dpc-run
    metrics: dict = dataclasses.field(default_factory=dict)  # keys of the log, and the number of outputs and labels
    optimize: bool = False          # what the exporter is told
    trains: bool = False            # the mode of the export and of PyTorch's training
    clip: float | None = None       # the norm of all gradients
    resumes: bool = False           # half of the steps, a checkpoint, and the rest
    best: tuple | None = None       # key of the evaluation that is kept, and 1 if more of it is better, else -1
    adapters: str | None = None     # glob of what is saved by itself, too
    sharded: bool = False           # begins with a folder of save_pretrained, in shards
    stream: bool = False            # a file of tokens, in which labels are the next ones


def accuracy(output, label):
    return (output.argmax(-1) == label).double().mean().item()


def top_5(output, label):
    return (output.topk(5).indices == label[..., None]).any(-1).double().mean().item()


def perplexity(output, label):
    return cross_entropy()(output.double(), label).exp().item()


def binary_accuracy(output, label):
    return ((output > 0) == (label > 0.5)).double().mean().item()


LEARNS = ['--loss=cross-entropy', '--optimizer=adamw,lr=0.01']
JOBS = (
    Job('gpt2', modules.family('gpt2'), text_data, cross_entropy(), adamw_of_groups,
        ['--loss=cross-entropy', '--optimizer=adamw,lr=0.01,weight-decay=0.1', '--param-group=*.bias,weight-decay=0',
         '--param-group=*.ln_*,weight-decay=0', '--clip-grad-norm=1', '--metric=perplexity',
         '--lr-schedule=cosine,warmup=3,total=10', '--mesh=data=2'],
        clip=1., resumes=True, stream=True, metrics={'eval_perplexity': perplexity}),
    Job('llama', modules.family('llama'), text_data, cross_entropy(), adamw(0.01),
        [*LEARNS, '--mesh=data=2,model=2', '--zero=3'], optimize=True, sharded=True, metrics={'eval_accuracy': accuracy}),
    Job('timm-resnet', modules.timm_model('resnet10t', num_classes=7, channels=(4, 8, 8, 8), stem_width=4),
        image_data(16), cross_entropy(label_smoothing=0.1), momentum,
        ['--loss=cross-entropy,label-smoothing=0.1', '--optimizer=momentum,lr=0.05', '--metric=top-5', '--mesh=data=2'],
        trains=True, run=['--eval-every=2'], best=('eval_top_5', 1),
        metrics={'eval_accuracy': accuracy, 'eval_top_5': top_5}),
    Job('timm-convnext', modules.timm_model('convnext_atto', num_classes=7, depths=(1, 1, 1, 1), dims=(4, 8, 8, 8)),
        image_data(32), cross_entropy(), adamw(0.01), [*LEARNS, '--mesh=data=2', '--microbatches=2'], optimize=True,
        metrics={'eval_accuracy': accuracy}),
    Job('dlrm', modules.Recommender, click_data, F.binary_cross_entropy_with_logits, adagrad,
        ['--loss=bce-with-logits', '--optimizer=adagrad,lr=0.2', '--metric=binary-accuracy', '--mesh=model=2'],
        optimize=True, run=['--eval-every=2', '--patience=5'], best=('eval_binary_accuracy', 1),
        metrics={'eval_binary_accuracy': binary_accuracy}),
    Job('t5', modules.family('t5'), pair_data, cross_entropy(), adamw(0.01), [*LEARNS, '--mesh=model=2']),
    Job('bart', modules.family('bart'), pair_data, cross_entropy(), adamw(0.01), [*LEARNS, '--mesh=data=2']),
    Job('lstm', modules.Classes, class_data, cross_entropy(), adamw(0.01), [*LEARNS, '--mesh=data=2'], optimize=True,
        metrics={'eval_accuracy': accuracy}, resumes=True),
    Job('diffusion', modules.Diffusion, noise_data, F.mse_loss, adamw(0.01),
        ['--loss=mse', '--optimizer=adamw,lr=0.01', '--mesh=data=2'], run=['--eval-every=2'], best=('eval_loss', -1)),
    Job('lora', modules.adapted, text_data, cross_entropy(), adamw(0.05),
        ['--loss=cross-entropy', '--optimizer=adamw,lr=0.05', '--frozen=*', '--trainable=*.lora_*', '--mesh=model=2'],
        adapters='*.lora_*'),
    Job('clip', modules.Contrast, captioned_data, None, adamw(0.005),
        ['--loss=output:loss', '--optimizer=adamw,lr=0.005', '--mesh=data=2']),
)
