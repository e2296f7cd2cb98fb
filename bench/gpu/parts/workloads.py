"""What is measured on a GPU: modules that return their loss, the batch that they are given, and the optimizer.

Plain PyTorch, so that the file works wherever PyTorch is: export.py exports the modules, and torch_contender.py trains them on
the GPU's machine. SMALL has modules of the same kind for tests on the emulated device.
"""
import torch
from torch import nn
from torch.nn import functional as F


class Classifier(nn.Module):
    """A network with the cross-entropy of its last dimension."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, x, labels):
        logits = self.network(x)
        return F.cross_entropy(logits.flatten(0, -2), labels.flatten())


def mlp(*sizes):
    layers = [layer for one, other in zip(sizes, sizes[1:]) for layer in (nn.Linear(one, other), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


def lenet():
    return nn.Sequential(nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 5, padding=2),
                         nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64 * 49, 1024), nn.ReLU(), nn.Linear(1024, 10))


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
                   for part in self.qkv(x).split(width, dim=2))
        made = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(made.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.attention, self.norm2 = nn.LayerNorm(width), Attention(width, heads), nn.LayerNorm(width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.narrow(F.gelu(self.wide(self.norm2(x)), approximate='tanh'))


class Gpt(nn.Module):
    """GPT-2's network: Radford et al., "Language Models are Unsupervised Multitask Learners", 2019."""

    def __init__(self, layers, width, heads, length, words):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)
        nn.init.normal_(self.tokens.weight, std=0.02)
        self.head.weight = self.tokens.weight

    def forward(self, ids):
        places = torch.arange(ids.shape[1], device=ids.device)
        return self.head(self.norm(self.blocks(self.tokens(ids) + self.positions(places))))


class Residual(nn.Module):
    """He et al., "Deep Residual Learning for Image Recognition", 2016; the stride is in the 3 x 3 convolution."""

    def __init__(self, inner, outer, channels, stride, isDeep):
        super().__init__()
        def conv(one, other, kernel, step):
            return nn.Sequential(nn.Conv2d(one, other, kernel, step, kernel // 2, bias=False), nn.BatchNorm2d(other))
        if isDeep:
            parts = [conv(inner, channels, 1, 1), conv(channels, channels, 3, stride), conv(channels, outer, 1, 1)]
        else:
            parts = [conv(inner, channels, 3, stride), conv(channels, outer, 3, 1)]
        self.parts = nn.ModuleList(parts)
        self.short = conv(inner, outer, 1, stride) if stride > 1 or inner != outer else nn.Identity()

    def forward(self, x):
        y = x
        for number, part in enumerate(self.parts):
            y = part(y)
            if number + 1 < len(self.parts):
                y = F.relu(y)
        return F.relu(y + self.short(x))


def resnet(depths, isDeep):
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inner = 64
    for stage, depth in enumerate(depths):
        channels = 64 << stage
        outer = channels * (4 if isDeep else 1)
        for number in range(depth):
            layers.append(Residual(inner, outer, channels, 2 if stage and not number else 1, isDeep))
            inner = outer
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inner, 1000))


class Norm(nn.Module):
    """A LayerNorm whose gradient is that of a given one."""

    def __init__(self, rows, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.shift = nn.Parameter(torch.zeros(rows, width))

    def forward(self, x):
        return (self.norm(self.shift) * x).sum()


class Entropy(nn.Module):
    def __init__(self, rows, words):
        super().__init__()
        self.logits = nn.Parameter(torch.randn(rows, words))

    def forward(self, labels):
        return F.cross_entropy(self.logits, labels)


class Scale(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(count))

    def forward(self, x):
        return (self.weight * x).sum()


class Workload:
    """`bytes`: what a step must move through the device's memory at least, where that bounds it."""

    def __init__(self, make, inputs, optimizer='adamw', bytes=0, isImages=False):
        self.make, self.inputs, self.optimizer, self.bytes, self.isImages = make, inputs, optimizer, bytes, isImages

    def batch(self, device='cpu'):
        """Normal floats, or whole numbers below a limit."""
        torch.manual_seed(0)
        return [(torch.randint(limit, shape) if limit else torch.randn(shape)).to(device) for shape, limit in self.inputs]


def images(batch, *shape, classes):
    return [((batch, *shape), 0), ((batch,), classes)]


def tokens(batch, length, words):
    return [((batch, length), words), ((batch, length), words)]


MB = 1 << 20
WORKLOADS = {
    'mlp_s': Workload(lambda: Classifier(mlp(784, 256, 256, 10)), images(64, 784, classes=10), 'momentum'),
    'mlp_l': Workload(lambda: Classifier(mlp(784, 1024, 1024, 10)), images(64, 784, classes=10), 'momentum'),
    'lenet': Workload(lambda: Classifier(lenet()), images(64, 1, 28, 28, classes=10), 'momentum'),
    'gpt2_4l': Workload(lambda: Classifier(Gpt(4, 256, 8, 128, 8192)), tokens(8, 128, 8192)),
    'gpt2_124m': Workload(lambda: Classifier(Gpt(12, 768, 12, 1024, 50257)), tokens(16, 1024, 50257)),
    'resnet18': Workload(lambda: Classifier(resnet([2, 2, 2, 2], False)), images(64, 3, 224, 224, classes=1000),
                         'momentum', isImages=True),
    'resnet50': Workload(lambda: Classifier(resnet([3, 4, 6, 3], True)), images(64, 3, 224, 224, classes=1000),
                         'momentum', isImages=True),
    # Bounded by memory: each large tensor is read once, and the state is written once.
    'layer_norm': Workload(lambda: Norm(16384, 768), [((16384, 768), 0)], 'sgd', bytes=3 * 4 * 16384 * 768),
    'cross_entropy': Workload(lambda: Entropy(8192, 50257), [((8192,), 50257)], 'sgd', bytes=2 * 4 * 8192 * 50257),
    'adamw': Workload(lambda: Scale(64 * MB), [((64 * MB,), 0)], 'adamw', bytes=7 * 4 * 64 * MB),
}

SMALL = {
    'mlp_s': Workload(lambda: Classifier(mlp(784, 32, 10)), images(8, 784, classes=10), 'momentum'),
    'mlp_l': Workload(lambda: Classifier(mlp(784, 64, 64, 10)), images(8, 784, classes=10), 'momentum'),
    'lenet': Workload(lambda: Classifier(lenet()), images(2, 1, 28, 28, classes=10), 'momentum'),
    'gpt2_4l': Workload(lambda: Classifier(Gpt(1, 32, 2, 16, 64)), tokens(2, 16, 64)),
    'gpt2_124m': Workload(lambda: Classifier(Gpt(2, 64, 2, 32, 203)), tokens(2, 32, 203)),
    'resnet18': Workload(lambda: Classifier(resnet([1, 1], False)), images(2, 3, 32, 32, classes=1000), 'momentum', isImages=True),
    'resnet50': Workload(lambda: Classifier(resnet([1, 1], True)), images(2, 3, 32, 32, classes=1000), 'momentum', isImages=True),
    'layer_norm': Workload(lambda: Norm(64, 128), [((64, 128), 0)], 'sgd', bytes=3 * 4 * 64 * 128),
    'cross_entropy': Workload(lambda: Entropy(32, 203), [((32,), 203)], 'sgd', bytes=2 * 4 * 32 * 203),
    'adamw': Workload(lambda: Scale(4096), [((4096,), 0)], 'adamw', bytes=7 * 4 * 4096),
}


def optimizer_of(workload, parameters, device):
    """PyTorch's, in its fastest form; dpc's option of the same name is `--optimizer=NAME,lr=1e-3`."""
    fused = device == 'cuda'
    if workload.optimizer == 'adamw':
        return torch.optim.AdamW(parameters, lr=1e-3, fused=fused)
    return torch.optim.SGD(parameters, lr=1e-3, momentum=0.9 if workload.optimizer == 'momentum' else 0, fused=fused)
