"""What a layer of a transformer leaves live at the end of the forward pass, by the plan of memory: programs of two
depths, so that all but the layers drops out.

Limits are those of Korthikanti et al., "Reducing activation recomputation in large transformer models" (2022), without
dropout's masks (there are none) and without attention's scores (which are never in memory): of a layer's s b h elements,
2-byte ones there, elements here.
"""
import os
import re
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from programs import LIMIT, Failed

SAMPLES, LENGTH, WIDTH, HEADS, VOCABULARY = 4, 64, 128, 4, 96
STREAM = SAMPLES * LENGTH * WIDTH
# Deep enough that --remat=full makes a segment of each layer: of fewer layers it keeps more, as the segments are smaller then.
SHALLOW, DEEP = 24, 28
MEGATRON = ['--mesh=model=2', '--shard=*.qkv=-,model', '--shard=*.o=model,-', '--shard=*.up=-,model', '--shard=*.down=model,-',
            '--shard=table=-,-', '--shard=head=-,model']
# The residual stream cut along the sequence; what products gather of it is gathered again for the backward pass.
SEQUENCE = [*MEGATRON, '--shard=*.middle=-,model,-', '--shard=*.out=-,model,-', '--remat=*_norm,*.qkv_product,*.up_product']


def export(path, layers):
    """A decoder like GPT-3's, of random weights."""
    rng = np.random.default_rng(0)
    nodes, weights = [], []

    def weight(name, *shape, scale=0.02):
        weights.append(numpy_helper.from_array((scale * rng.standard_normal(shape)).astype(np.float32), name))
        return name

    def constant(name, value):
        weights.append(numpy_helper.from_array(np.array(value), name))
        return name

    def node(kind, inputs, output, **attributes):
        nodes.append(helper.make_node(kind, inputs, [output] if isinstance(output, str) else output,
                                      name=output if isinstance(output, str) else output[0], **attributes))
        return output

    def linear(name, x, inner, outer):
        product = node('MatMul', [x, weight(name, inner, outer)], name + '_product')
        return node('Add', [product, weight(name + '_bias', outer)], name + '_sum')

    def norm(name, x):
        return node('LayerNormalization', [x, weight(name + '_scale', WIDTH), weight(name + '_shift', WIDTH)], name + '_norm',
                    axis=-1, epsilon=1e-5)

    heads = constant('heads', np.array([0, 0, HEADS, WIDTH // HEADS], np.int64))
    whole = constant('whole', np.array([0, 0, WIDTH], np.int64))
    mask = constant('mask', np.triu(np.full((LENGTH, LENGTH), -1e9, np.float32), 1))
    scale = constant('scale', np.float32((WIDTH // HEADS)**-0.5))
    half, one, root = (constant(name, np.float32(value)) for name, value in (('half', 0.5), ('one', 1), ('root', 2**-0.5)))
    x = node('Gather', [weight('table', VOCABULARY, WIDTH), 'ids'], 'embedded')
    for layer in range(layers):
        at = f'l{layer}.'
        qkv = linear(at + 'qkv', norm(at + 'first', x), WIDTH, 3 * WIDTH)
        parts = node('Split', [qkv], [at + name for name in ('q', 'k', 'v')], axis=-1, num_outputs=3)
        q, k, v = (node('Transpose', [node('Reshape', [part, heads], part + '_heads')], part + '_first', perm=perm)
                   for part, perm in zip(parts, ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3))))
        scores = node('Mul', [node('MatMul', [q, k], at + 'scores'), scale], at + 'scaled')
        soft = node('Softmax', [node('Add', [scores, mask], at + 'masked')], at + 'soft', axis=-1)
        context = node('Transpose', [node('MatMul', [soft, v], at + 'context')], at + 'rows', perm=(0, 2, 1, 3))
        x = node('Add', [x, linear(at + 'o', node('Reshape', [context, whole], at + 'joined'), WIDTH, WIDTH)], at + 'middle')
        up = linear(at + 'up', norm(at + 'second', x), WIDTH, 4 * WIDTH)
        cut = node('Add', [node('Erf', [node('Mul', [up, root], at + 'rooted')], at + 'erf'), one], at + 'shifted')
        gelu = node('Mul', [node('Mul', [up, cut], at + 'gated'), half], at + 'gelu')
        x = node('Add', [x, linear(at + 'down', gelu, 4 * WIDTH, WIDTH)], at + 'out')
    node('MatMul', [norm('last', x), weight('head', WIDTH, VOCABULARY)], 'logits')
    graph = helper.make_graph(
        nodes, 'decoder', [helper.make_tensor_value_info('ids', TensorProto.INT64, (SAMPLES, LENGTH))],
        [helper.make_tensor_value_info('logits', TensorProto.FLOAT, (SAMPLES, LENGTH, VOCABULARY))], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 18)], ir_version=9), path)


def count(compiler, layers, flags):
    """Bytes live at the end of the forward pass."""
    model = os.path.join(compiler.folder, f'decoder{layers}.onnx')
    if not os.path.exists(model):
        export(model, layers)
    command = [os.path.join(compiler.tools, 'dpc-compile'), model, '--loss=cross-entropy', '--optimizer=adamw,lr=0.001',
               '--zero=0', '--stop-after=exec', *flags]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise Failed(f'dpc-compile exits {done.returncode}: {done.stderr.strip()[-500:]}')
    found = re.search(r'#exec\.live_bytes<afterForward = (\d+)', done.stdout)
    if not found:
        raise Failed('the program does not say what is live at the end of the forward pass')
    return int(found.group(1))


def expect(flags, limit):
    """At most `limit` times the residual stream a layer."""
    def check(compiler):
        few, many = (count(compiler, layers, flags) for layers in (SHALLOW, DEEP))
        streams = (many - few) / (DEEP - SHALLOW) / (4 * STREAM)
        if not 0 < streams <= limit * 1.01:
            raise Failed(f'{streams:.2f} times the residual stream stay of a layer, not at most {limit}')
        return f'{streams:.2f} times the residual stream, at most {limit}'
    return check


TESTS = [('activations, one rank', expect(['--remat=none'], 17)),
         ('activations, model=2', expect(['--remat=none', *MEGATRON], 11)),
         ('activations, sequence cut', expect(SEQUENCE, 8.5)),
         ('activations, recomputed', expect(['--remat=full'], 1)),
         ('activations, model=2, recomputed', expect(['--remat=full', *MEGATRON], 0.52)),
         # Of two bytes, but for the residual stream, and the result of attention beside its rounded form; with the weights
         # in 16 bits, which here are 1.5 times the stream.
         ('activations, model=2, bf16', expect(['--remat=none', '--precision=bf16', *MEGATRON], 8.5)),
         ('activations, sequence cut, bf16', expect(['--precision=bf16', *SEQUENCE], 4.5))]
