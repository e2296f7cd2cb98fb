"""The table of docs/performance/gpu.md, from the results of run-all or from a pack that has not run yet."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'parts'))
from sitting import read_lines  # noqa: E402

# Title, workload, precision, and two bounds of the step's time over PyTorch's: the required one and the aim.
RATIOS = [('GPT-2 124M, bf16, over torch.compile', 'gpt2_124m', 'bf16', 1.3, 1.0),
          ('GPT-2 124M, IEEE f32, over torch.compile', 'gpt2_124m', 'f32', 1.1, 1.0),
          ('ResNet-50, bf16, 64 images, over torch.compile with channels_last', 'resnet50', 'bf16', 1.5, 1.0),
          ('ResNet-18, IEEE f32, 64 images, over torch.compile with channels_last', 'resnet18', 'f32', 1.5, 1.0),
          ('mlp_l, IEEE f32, over the best mode of torch.compile', 'mlp_l', 'f32', 1.0, 0.9),
          ('gpt2_4l, IEEE f32, over the best mode of torch.compile', 'gpt2_4l', 'f32', 1.0, 0.9)]
# Title, workload and class of its kernels, which read and write each large tensor once; the share of the copy bandwidth that they
# must and should reach.
SHARES = [('kernels of LayerNorm, both ways, f32: share of the copy bandwidth', 'layer_norm', 'normalization', 80, 90),
          ('kernels of cross-entropy with its gradient, f32: share of the copy bandwidth', 'cross_entropy', 'normalization', 80, 90),
          ('kernels of AdamW, f32: share of the copy bandwidth', 'adamw', 'update', 80, 90)]
ATTENTION = ('attention of GPT-2 124M, both ways, bf16, over scaled_dot_product_attention', 1.5, 1.0)
LAYERS = {'gpt2_124m': 12}


class Found:
    """The results of run-all. Of equal results, the latest counts."""

    def __init__(self, lines):
        self.lines = lines
        self.foretold = next((line['foretold'] for line in lines if 'foretold' in line), {})
        self.layers = 2 if next((line['small'] for line in lines if 'small' in line), False) else LAYERS['gpt2_124m']

    def last(self, **fields):
        for line in reversed(self.lines):
            if all(line.get(key) == value for key, value in fields.items()):
                return line
        return None

    def of_part(self, number, key):
        return [line for line in self.lines if line.get('part') == number and key in line]

    def predicted(self, name, precision):
        """The foretold step."""
        return self.foretold.get(f'{name}.{precision}', {})

    def measured(self, name, precision):
        """The profiled step."""
        return self.last(part=3, workload=name, precision=precision) or {}

    def bandwidth(self):
        """GB/s of the fastest copy."""
        return max((line['copy_GB_per_s'] for line in self.of_part(1, 'copy_GB_per_s')), default=None)

    def best_race(self, name, precision):
        """(ms of dpc, ms of PyTorch, its mode) of the race whose PyTorch was fastest."""
        races = [(line['ms']['dpc'], ms, who) for line in self.of_part(6, 'ms') + self.of_part(8, 'ms')
                 if (line['workload'], line['precision']) == (name, precision) and 'dpc' in line['ms']
                 for who, ms in line['ms'].items() if who != 'dpc']
        return min(races, key=lambda race: race[1], default=None)

    def sdpa_us(self):
        line = self.last(part=6, kernel='sdpa both ways bf16')
        return line['us'] if line else None


def ratio_row(found, title, name, precision, must, aim):
    predicted, race = found.predicted(name, precision).get('step_us'), found.best_race(name, precision)
    measured = 'not measured'
    if race:
        measured = f'{race[0] / race[1]:.2f} ({race[0]:.2f} ms over {race[1]:.2f}, {race[2]})'
    else:
        line = found.last(part=4, workload=name, precision=precision)
        if line:
            measured = f"{line['ms']['graphs on']:.2f} ms, without PyTorch"
    return title, f'<= {must}', f'<= {aim}', f'{predicted / 1000:.2f} ms' if predicted else '-', measured


def share(step, kind, rate):
    """The share of `rate`, in GB/s, that the kernels of a class reach, in percent."""
    one = step.get('classes', {}).get(kind)
    return 100 * one['bytes'] / (one['us'] * 1e3 * rate) if one and one['us'] and rate else None


def share_row(found, title, name, kind, must, aim):
    predicted = share(found.predicted(name, 'f32'), kind, found.foretold.get('GB_per_s'))
    bandwidth = found.bandwidth()
    measured = share(found.measured(name, 'f32'), kind, bandwidth)
    return (title, f'>= {must} %', f'>= {aim} %', f'{predicted:.0f} %' if predicted else '-',
            f'{measured:.0f} % of {bandwidth:.0f} GB/s' if measured is not None else 'not measured')


def attention_row(found):
    title, must, aim = ATTENTION
    predicted, mine = (step.get('classes', {}).get('attention', {}).get('us')
                       for step in (found.predicted('gpt2_124m', 'bf16'), found.measured('gpt2_124m', 'bf16')))
    sdpa = found.sdpa_us()
    measured = 'not measured'
    if mine and sdpa:
        measured = f'{mine / found.layers / sdpa:.2f} ({mine / found.layers:.0f} us a layer over {sdpa:.0f})'
    return title, f'<= {must}', f'<= {aim}', f'{predicted / found.layers:.0f} us a layer' if predicted else '-', measured


def class_rows(found):
    """The classes of kernels of each profiled step: measured over foretold."""
    for line in found.of_part(3, 'classes'):
        for kind, one in sorted(line['classes'].items(), key=lambda entry: -entry[1]['us']):
            ratio = f"{one['us'] / one['foretold_us']:.2f}" if one['foretold_us'] else '-'
            yield (f"{line['workload']} {line['precision']}", kind, str(one['launches']), f"{one['us']:.0f}", f"{one['foretold_us']:.0f}",
                   ratio)


def markdown(header, rows):
    return '\n'.join(['| ' + ' | '.join(header) + ' |', '|---' * len(header) + '|', *('| ' + ' | '.join(row) + ' |' for row in rows)])


def table(lines):
    found = Found(lines)
    rows = [*(ratio_row(found, *one) for one in RATIOS), *(share_row(found, *one) for one in SHARES), attention_row(found)]
    text = markdown(('what', 'must', 'aim', 'predicted', 'measured'), rows)
    classes = list(class_rows(found))
    if classes:
        text += '\n\n' + markdown(('step', 'class', 'launches', 'us', 'foretold us', 'measured over foretold'), classes)
    problems = [f"{line['item']}: {line['why']}" for line in lines if line.get('ended') in ('failed', 'skipped')]
    return text + ''.join(f'\n{"" if at else chr(10)}* {problem}' for at, problem in enumerate(problems))


def print_table(path):
    """`path` is a file of results, or a pack."""
    if os.path.isdir(path):
        with open(os.path.join(path, 'manifest.json')) as file:
            manifest = json.load(file)
        print(table([{key: manifest[key] for key in ('foretold', 'small')}]))
    else:
        print(table(read_lines(path)))
