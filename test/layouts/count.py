"""Collectives a layer where a transformer is cut as Megatron cuts it."""
import collections
import math
import os
import re
import subprocess

from programs import LIMIT, Failed

# Layers, elements of the residual stream, and cuts of the weights in the syntax of dpc-annotate-layouts.
MEGATRON = {
    'gpt2': (3, 8 * 512 * 1024, ('*.c_attn.weight=-;model', '*.attn.c_proj.weight=model;-', '*.c_fc.weight=-;model',
                                 '*.mlp.c_proj.weight=model;-', '*.lm_head.weight=model;-', '*.wpe.weight=-;-')),
    'llama': (4, 8 * 256 * 512, ('*.[qkv]_proj.weight=model;-', '*.o_proj.weight=-;model',
                                 '*.gate_proj.weight=model;-', '*.up_proj.weight=model;-',
                                 '*.down_proj.weight=-;model', '*.embed_tokens.weight=model;-',
                                 '*.lm_head.weight=model;-'))}
# The embedding and the head need some beside those of the layers.
APART = 3


def count(compiler, model, split, *flags):
    """How many collectives of each kind exchange the residual stream in a step."""
    _, elements, cuts = MEGATRON[model]
    step = os.path.join(compiler.folder, 'step.mlir')
    with open(step, 'w') as file:
        file.write(compiler.text(model, 'model=2', 'step', *flags))
    try:
        done = subprocess.run(
            [os.path.join(compiler.tools, 'dpc-opt'), step, '--dpc-describe-machine',
             '--dpc-annotate-layouts=shards=' + ','.join(cuts),
             f'--dpc-assign-layouts=axes=model=2 auto-axes=model split-atoms={str(split).lower()}', '--dpc-partition'],
            capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        raise Failed('hangs')
    if done.returncode:
        raise Failed(f'dpc-opt exits {done.returncode}: {done.stderr.strip()[-500:]}')
    text = done.stdout[done.stdout.index('@step('):]
    counts = collections.Counter()
    for line in text[:text.index('@eval(')].split('\n'):
        kind = re.search(r'= dist\.(all_reduce|all_gather|reduce_scatter|all_to_all) ', line)
        if kind:
            whole = max(math.prod(int(extent) for extent in shape.split('x')[:-1])
                        for shape in re.findall(r'tensor<([^>]*)>', line))
            if whole == elements:
                counts[kind.group(1)] += 1
    return counts


def expect(model, split, kinds, *flags):
    def check(compiler):
        layers = MEGATRON[model][0]
        counts = count(compiler, model, split, *flags)
        for kind in ('all_reduce', 'all_gather', 'reduce_scatter', 'all_to_all'):
            wanted = kinds.get(kind, 0) * layers
            if not wanted <= counts[kind] <= wanted + APART:
                raise Failed(f'{counts[kind]} {kind} of the residual stream in {layers} layers, not {wanted} and at '
                             f'most {APART} beside')
        return ', '.join(f'{number} {kind}' for kind, number in sorted(counts.items()))
    return check


BF16 = '--precision=bf16'
# The sum of the gradients that separate products of one value have is f32, twice the bytes of each. So of Llama's queries, keys
# and values those of the products are gathered, as much as that sum, and gate and up are summed one by one.
NARROW_KINDS = {'gpt2': {'all_gather': 4, 'reduce_scatter': 4}, 'llama': {'all_gather': 6, 'reduce_scatter': 3}}

TESTS = [entry for model in MEGATRON for entry in (
    (f'count, {model}, sums of all devices', expect(model, False, {'all_reduce': 4})),
    (f'count, {model}, the residual stream cut', expect(model, True, {'all_gather': 4, 'reduce_scatter': 4})),
    (f'count, {model}, sums of all devices, bf16', expect(model, False, {'all_reduce': 4}, BF16)),
    (f'count, {model}, the residual stream cut, bf16', expect(model, True, NARROW_KINDS[model], BF16)))]
