#!/usr/bin/env python3
"""Exports models that are in no other suite, and writes what the acceptance kit needs to judge them.

  export.py OUT [NAME..] [--judge PATH] [--bin DIR] [--seed N]

needs torch, transformers, timm, onnx and numpy (scripts/setup --dev). OUT is a folder outside of the tree: the models
are not committed. PATH is the kit's onnxref.py (default: ../shared/cases/onnxref.py from the repository's root), which
trains the graph of a file in f64 and knows nothing of dpc. With the kit's accept.py copied into OUT,

  OUT/accept.py --bin build/release/bin --jobs 2 [--only NAME,..] [--config REGEX]

then compiles and runs every configuration, and compares losses and parameters after 10 steps. What is in OUT:

  models/NAME/       model.onnx, data.npz, ref.json (10 losses), final.safetensors (the parameters after them;
                     running statistics as state|NAME); a model with BatchNorm has final_microN.safetensors too
  cases.json         how each is compiled: models.py (optimizers, losses) and configs.py (meshes, requests, --zero)

Requests for layouts are drawn from --seed (default 1). They name nodes only with --bin, the folder of dpc-compile,
which says of which nodes a value is left. All else is the same in each call. A call with NAMEs replaces these in
cases.json and keeps the others.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import warnings

import numpy as np
import onnx
import torch

import configs
import models

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BATCH, STEPS = 8, 10
TOLERANCE = {'f64': [1e-8, 1e-7], 'f32': [2e-4, 1e-3]}  # losses, parameters: the kit's

exporter = models.load('module_export', 'module', 'export.py')


def export(model, module, inputs, path):
    """Writes `module` to the file `path`."""
    options = dict(exporter.HOWS[model.how])
    if model.dynamic and model.how.startswith('torchscript'):
        options['dynamic_axes'] = {name: {0: 'batch'} for name in inputs}
    elif model.dynamic:
        shapes = tuple({0: torch.export.Dim.DYNAMIC} for _ in inputs)
        # forward(*inputs) is one argument to the exporter.
        variadic = module.forward.__code__.co_argcount == 1
        options['dynamic_shapes'] = (shapes,) if variadic else shapes
    torch.onnx.export(module, tuple(inputs.values()), path, input_names=list(inputs),
                      output_names=['loss' if model.loss.startswith('output:') else 'logits'], **options)


def find_parameters(executor, module, feeds):
    """The initializers that are the module's parameters, by name or because all their values are (in another
    shape or order, some of them, several joined), and whether the file leaves it open which those are."""
    own = {name: value.detach() for name, value in module.named_parameters()}
    values = torch.cat([value.reshape(-1) for value in own.values()]).to(executor.dt)
    floats = {name: value for name, value in executor.init.items() if value.is_floating_point() and value.numel()}
    leaves = {name: value.clone().requires_grad_(True) for name, value in floats.items()}
    executor.run(feeds, leaves)[0].sum().backward()
    moved = {name for name, leaf in leaves.items() if leaf.grad is not None}

    def is_parameter(name):
        value = floats[name]
        if name in own and own[name].shape == value.shape:
            return True
        return value.numel() > 1 and value.min() < value.max() and bool(torch.isin(value, values).all())
    trained = [name for name in floats if name in moved and is_parameter(name)]
    others = [name for name in moved if name not in trained and floats[name].numel() > 1]
    return trained, bool(others) or not set(own) <= set(trained)


def find_nodes(executor, feeds):
    """Nodes that make floats from the inputs, as `Named`, with the shapes that one batch gives."""
    graph = executor.m.graph
    values = dict(executor.init)
    values.update({name: torch.as_tensor(value) for name, value in feeds.items()})
    values = {name: value.to(executor.dt) if value.is_floating_point() else value for name, value in values.items()}
    executor.graph(graph.node, values, executor.ops)
    reached, found = set(feeds), []
    for node in graph.node:
        if node.op_type in ('Shape', 'Size') or not reached & set(node.input):
            continue
        reached.update(node.output)
        value = values[node.output[0]]
        if node.name and torch.is_tensor(value) and value.is_floating_point() and value.dim() > 1:
            found.append(configs.Named(node.name, list(value.shape), value.shape[0] == BATCH))
    return found


def keep_named(compile_it, nodes, most=16):
    """The first `most` of `nodes` that a request may name: what the compiler folds or fuses has no value to be cut."""
    kept = []
    for node in nodes:
        whole = ','.join('-' for _ in node.shape)
        asked = [*compile_it, f'--shard={node.name}={whole}', '--stop-after=placed', '-o', os.devnull]
        if len(kept) < most and subprocess.run(asked, capture_output=True).returncode == 0:
            kept.append(node)
    return kept


def judge_module(path):
    """onnxref.py at `path`, with clipping, and with both kinds of running variance kept apart over steps."""
    judge = models.load('onnxref', os.path.abspath(path))

    class Executor(judge.Exec):
        def op_BatchNormalization(self, attributes, x, scale, bias, mean, variance):
            name = self.n.input[4] + '|population'
            before = self.state.get(name, variance)
            result = super().op_BatchNormalization(attributes, x, scale, bias, mean, variance)
            if name in self.state:
                self.state[name] = result[2] + attributes.get('momentum', .9) * (before - variance)
            return result
    judge.Executor = Executor
    make_optimizer = judge.make_opt

    def clipped(spec, parameters):
        spec, _, norm = spec.partition(';clip=')
        parameters = list(parameters)
        optimizer = make_optimizer(spec, parameters)
        if norm:
            def clip(*_):
                torch.nn.utils.clip_grad_norm_(parameters, float(norm))
            optimizer.register_step_pre_hook(clip)
        return optimizer
    judge.make_opt = clipped
    return judge


def record(judge, executor, folder, model, data, trained, has_state):
    """Trains the graph and writes what it gave; returns by how much of their norm the parameters moved."""
    spec = model.optimizer + (f';clip={model.clip}' if model.clip else '')
    losses = {}
    for parts in (1, 2, 4) if has_state else (1,):
        suffix = f'_micro{parts}' if parts > 1 else ''
        losses['loss_f64' + suffix], final = judge.train(executor, trained, data, BATCH, STEPS, model.loss, spec,
                                                         micro=parts)
        if parts == 1:
            moved = sum(float((final[key] - executor.init[key]).square().sum()) for key in trained)
            update = (moved / sum(float(executor.init[key].square().sum()) for key in trained))**.5
        models.small.write_safetensors(
            os.path.join(folder, f'final{suffix}.safetensors'),
            dict(final, **{'state|' + key: value for key, value in executor.state.items()}))
    with open(os.path.join(folder, 'ref.json'), 'w') as file:
        json.dump(losses, file, indent=1)
    return update


def make_case(judge, options, name):
    """Exports the model `name` and records its training; returns its entry in cases.json."""
    model = models.MODELS[name]
    files = {key: f'models/{name}/{file}' for key, file in (
        ('model', 'model.onnx'), ('data', 'data.npz'), ('ref', 'ref.json'), ('final', 'final.safetensors'))}
    path = os.path.join(options.out, files['model'])
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    torch.manual_seed(1)
    models.families.hugging_face.eager = model.how.startswith('torchscript')
    module = model.make().train(model.how == 'torchscript-training')
    data = model.data(np.random.default_rng(7), BATCH * STEPS)
    data = {key: np.ascontiguousarray(value) for key, value in data.items()}
    feeds = {key: value[:BATCH] for key, value in data.items() if key != 'label'}
    export(model, module, {key: torch.from_numpy(value.copy()) for key, value in feeds.items()}, path)
    np.savez_compressed(os.path.join(folder, 'data.npz'), **data)

    executor = judge.Executor(path)
    trained, is_open = find_parameters(executor, module, feeds)
    has_state = any(node.op_type == 'BatchNormalization' for node in executor.m.graph.node)
    update = record(judge, executor, folder, model, data, trained, has_state)
    has_rows = any(value.dim() > 1 and len(value) == BATCH and bool((value == value[:1]).all())
                   for value in (executor.init[key] for key in trained))
    shapes = [f'--shape={key}:{"x".join(map(str, value.shape))}' for key, value in feeds.items()]
    shapes = shapes if model.dynamic else []
    nodes = find_nodes(executor, feeds) if options.bin else []
    random.Random(f'{options.seed} {name}').shuffle(nodes)
    nodes = keep_named([os.path.join(options.bin or '', 'dpc-compile'), path, '--as-exported',
                        '--loss=' + model.loss, '--optimizer=sgd,lr=1', *shapes], nodes)
    parameters = [configs.Named(key, list(executor.init[key].shape), False) for key in trained]
    inputs = [configs.Named(key, list(value.shape), True) for key, value in feeds.items()]
    flags = [f'--clip-grad-norm={model.clip}'] if model.clip else []
    return {
        'name': name, 'public': True, 'optional': False, 'check': 'curve', **files, 'batch': BATCH, 'steps': STEPS,
        'loss': model.loss, 'optimizer': model.optimizer, 'shapes': shapes, 'flags': flags,
        'explicit_flags': flags + ['--trainable=' + key for key in trained], 'ambiguous': is_open,
        'trainable': trained, 'update_rel': update, 'tolerance': TOLERANCE,
        'configs': configs.configurations(f'{options.seed} {name}', parameters, inputs, nodes, has_state, has_rows),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('out')
    parser.add_argument('names', nargs='*', metavar='NAME')
    parser.add_argument('--judge', default=os.path.join(ROOT, '..', 'shared', 'cases', 'onnxref.py'))
    parser.add_argument('--bin')
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    for name in options.names:
        if name not in models.MODELS:
            parser.error(f'no model {name}; known: {" ".join(models.MODELS)}')
    if os.path.abspath(options.out).startswith(ROOT + os.sep):
        parser.error('OUT lies in the tree')
    warnings.filterwarnings('ignore')
    judge = judge_module(options.judge)
    os.makedirs(options.out, exist_ok=True)
    index = os.path.join(options.out, 'cases.json')
    cases = {}
    if options.names and os.path.exists(index):
        with open(index) as file:
            cases = {case['name']: case for case in json.load(file)['cases']}
    failed = 0
    for name in options.names or models.MODELS:
        try:
            cases[name] = make_case(judge, options, name)
        except Exception as error:  # The others go on: what exports is settled by the versions that are installed.
            failed += 1
            print(f'{name}: {type(error).__name__}: {str(error).splitlines()[0]}', flush=True)
            continue
        case = cases[name]
        print(f'{name}: {len(case["trainable"])} parameters, {len(case["configs"])} configurations, moved by '
              f'{case["update_rel"]:.2f}', flush=True)
    with open(index, 'w') as file:
        json.dump({'version': 1, 'steps': STEPS, 'cases': [cases[name] for name in models.MODELS if name in cases]},
                  file, indent=1)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
