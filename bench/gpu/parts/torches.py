"""Part 6, and the end of part 8: dpc's programs against PyTorch's modules, in turns, and single kernels of PyTorch."""
import os
import subprocess

from sitting import Contender, Failed, Item, Skipped, json_lines
from steps import in_turns, median_ms

# Workload, precision, and the modes of torch.compile beside dpc's program. The mode `eager` compiles nothing.
RACES = [('gpt2_124m', 'bf16', ['default']), ('gpt2_124m', 'f32', ['default']), ('resnet50', 'bf16', ['default']),
         ('resnet18', 'f32', ['default']), ('gpt2_4l', 'f32', ['default', 'reduce-overhead']),
         ('mlp_l', 'f32', ['default', 'reduce-overhead']), ('gpt2_124m', 'bf16', ['eager']), ('resnet50', 'bf16', ['eager']),
         ('gpt2_124m', 'f32', ['eager']), ('resnet50', 'f32', ['default']), ('lenet', 'f32', ['default', 'reduce-overhead']),
         ('mlp_s', 'f32', ['default', 'reduce-overhead'])]
LATE_RACES = [('gpt2_4l', 'f32', ['max-autotune']), ('mlp_l', 'f32', ['max-autotune']), ('gpt2_124m', 'bf16', ['max-autotune-no-cudagraphs'])]


def require_torch(pack):
    if pack.torch is None:
        code = 'import torch, sys; print(torch.__version__); sys.exit(0 if sys.argv[1] == "cpu" or torch.cuda.is_available() else 3)'
        pack.torch, pack.why = '', f'{pack.options.torch} has no PyTorch'
        try:
            done = subprocess.run([pack.options.torch, '-c', code, pack.options.torch_device], capture_output=True, text=True, timeout=180)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Skipped(f'{pack.options.torch}: {error}') from None
        if done.returncode == 0:
            pack.torch = done.stdout.strip()
        elif done.returncode == 3:
            pack.why = 'PyTorch finds no GPU'
    if not pack.torch:
        raise Skipped(pack.why)


def contender_of(pack, name, precision, mode, limit):
    command = [pack.options.torch, os.path.join(pack.source, 'parts', 'torch_contender.py'), name, mode, '--precision=' + precision,
               '--device=' + pack.options.torch_device, *(['--small'] if pack.manifest['small'] else [])]
    return Contender(command, limit, pack.options.round_seconds)


def race(pack, name, precision, modes):
    def measure(limit):
        require_torch(pack)
        contenders, missing = {}, {}
        try:
            for who in ['dpc', *modes]:
                try:
                    contenders[who] = (pack.contender(name, precision, limit) if who == 'dpc' else
                                       contender_of(pack, name, precision, who, limit))
                except (Failed, OSError) as error:
                    missing[who] = str(error)
            if not contenders:
                raise Failed('; '.join(f'{who}: {why}' for who, why in missing.items()))
            seconds = in_turns(contenders, pack.options.rounds)
        finally:
            for contender in contenders.values():
                contender.kill()
        yield {'workload': name, 'precision': precision, 'torch': pack.torch, 'missing': missing,
               'ms': {who: median_ms(own) for who, own in seconds.items()},
               'spread': {who: round(max(own) / min(own), 3) for who, own in seconds.items()},
               'loss0': {who: contender.ready['loss0'] for who, contender in contenders.items()}}
        if missing:
            raise Failed('; '.join(f'no {who}: {why}' for who, why in missing.items()))
    return measure


def kernels(pack):
    def measure(limit):
        require_torch(pack)
        command = [pack.options.torch, os.path.join(pack.source, 'parts', 'torch_kernels.py'), '--device=' + pack.options.torch_device,
                   *(['--small'] if pack.manifest['small'] else [])]
        yield from json_lines(command, limit)
    return measure


def title(name, precision, modes):
    return f"PyTorch {name} {precision} {','.join(modes)}"


def items(pack):
    races = [Item(title(*one), race(pack, *one), 180) for one in RACES if f'{one[0]}.{one[1]}' in pack.manifest['bench']]
    return [*races[:2], Item('PyTorch kernels', kernels(pack), 60), *races[2:]]


def late_items(pack):
    return [Item(title(*one), race(pack, *one), 300) for one in LATE_RACES if f'{one[0]}.{one[1]}' in pack.manifest['bench']]
