"""Model files in 16 bits train as the same file in 32 bits, whose values are those of 16 bits, trains."""
import json
import os
import struct

import numpy as np
import onnx

ONNX_TYPES = {'bf16': onnx.TensorProto.BFLOAT16, 'f16': onnx.TensorProto.FLOAT16}
SAFETENSORS_TYPES = {'bf16': 'BF16', 'f16': 'F16'}
CASES = ('mlp', 'bn_cnn', 'gpt2', 'llama', 'lstm')
# Further flags of both files: each must give the same bits.
FLAGS = [('gpt2', ['--precision=f32']), ('gpt2', ['--precision=f64']), ('gpt2', ['--precision=bf16']), ('gpt2', ['--precision=f16']),
         ('llama', ['--mesh=data=2', '--zero=3', '--microbatches=2', '--precision=bf16']),
         ('bn_cnn', ['--mesh=data=2', '--precision=f16']), ('gpt2', ['--trainable=*ln_*'])]
STEPS = 6


class Failed(Exception):
    pass


def bits_of(values, narrow):
    """The nearest numbers of 16 bits, ties to even, as integers."""
    if narrow == 'f16':
        with np.errstate(over='ignore'):
            return values.astype(np.float16).view(np.uint16)
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def values_of(bits, narrow):
    if narrow == 'f16':
        return bits.view(np.float16).astype(np.float32)
    return (bits.astype(np.uint32) << 16).view(np.float32)


def rounded(values, narrow):
    return values_of(bits_of(values, narrow), narrow).reshape(values.shape)


def convert(path, narrow, folder):
    """The model with floats of 16 bits, and the one of 32 bits that has the same numbers."""
    half, wide = onnx.load(path), onnx.load(path)

    def tensors(model):
        yield from model.graph.initializer
        for node in model.graph.node:
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.TENSOR:
                    yield attribute.t

    for model in (half, wide):
        for tensor in tensors(model):
            if tensor.data_type != onnx.TensorProto.FLOAT:
                continue
            bits = bits_of(onnx.numpy_helper.to_array(tensor), narrow)
            tensor.ClearField('float_data')
            tensor.raw_data = bits.tobytes() if model is half else values_of(bits, narrow).tobytes()
            tensor.data_type = ONNX_TYPES[narrow] if model is half else onnx.TensorProto.FLOAT
    for value in [*half.graph.input, *half.graph.output, *half.graph.value_info]:
        if value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT:
            value.type.tensor_type.elem_type = ONNX_TYPES[narrow]
    for node in half.graph.node:
        for attribute in node.attribute:
            if attribute.name in ('to', 'dtype') and attribute.i == onnx.TensorProto.FLOAT:
                attribute.i = ONNX_TYPES[narrow]
    paths = [os.path.join(folder, f'{os.path.basename(os.path.dirname(path))}-{narrow}-{kind}.onnx') for kind in ('half', 'wide')]
    onnx.save(half, paths[0])
    onnx.save(wide, paths[1])
    return paths


def dtypes(path):
    """The types of a safetensors file by name."""
    with open(path, 'rb') as file:
        length, = struct.unpack('<Q', file.read(8))
        return {name: entry['dtype'] for name, entry in json.loads(file.read(length)).items() if name != '__metadata__'}


class Files:
    def __init__(self, runner, interp):
        self.runner, self.interp, self.converted, self.runs = runner, interp, {}, 0

    def models(self, case, narrow):
        key = case, narrow
        if key not in self.converted:
            self.converted[key] = convert(os.path.join(self.interp.MODELS, case, 'model.onnx'), narrow, self.runner.folder)
        return self.converted[key]

    def train(self, model, case, flags, run=(), steps=STEPS):
        """What the compiler says, the losses, the state and its file, and the stem of the run's files."""
        self.runs += 1
        stem = os.path.join(self.runner.folder, f'file{self.runs}')
        named = {flag.split('=')[0] for flag in flags}
        own = [flag for flag in self.interp.CASES[case][0] if flag != '--as-exported' and flag.split('=')[0] not in named]
        said = self.runner.tool('dpc-compile', model, '-o', stem, *own, *flags).stderr
        ranks = 2 if '--mesh=data=2' in flags else 1
        self.runner.tool('dpc-run', '-n', str(ranks), stem, f'--data={self.interp.MODELS}/{case}/data.npz', '--no-shuffle',
                         f'--steps={steps}', f'--log={stem}.jsonl', f'--save-params={stem}.safetensors',
                         f'--save-onnx={stem}.onnx', *run)
        with open(stem + '.jsonl') as log:
            losses = np.array([json.loads(line)['loss'] for line in log], float)
        return said, losses, f'{stem}.safetensors', stem

    def same(self, case, narrow, flags):
        """The bits of every loss and of all state are those of the file in 32 bits, and a note says which type they have."""
        half, wide = self.models(case, narrow)
        said, losses, saved, _ = self.train(half, case, flags)
        other, expected, wanted, _ = self.train(wide, case, flags)
        if f'are {onnx.TensorProto.DataType.Name(ONNX_TYPES[narrow])}: they, their optimizer state and the loss are f' not in said:
            raise Failed(f'no note: {said}')
        if 'optimizer state' in other:
            raise Failed(f'a note about a file in 32 bits: {other}')
        if not np.isfinite(losses).all() or losses.tolist() != expected.tolist():
            raise Failed(f'losses {losses} for {expected}')
        state, want = self.interp.read_safetensors(saved), self.interp.read_safetensors(wanted)
        if state.keys() != want.keys() or any(state[name].tobytes() != want[name].tobytes() for name in want):
            raise Failed('another state')
        return f'{len(state)} tensors'

    def moves(self, narrow, flags):
        """At the rate of a fine-tuning, 2e-5, parameters move by much less than the file's type can tell."""
        half, wide = self.models('gpt2', narrow)
        flags = ['--optimizer=adamw,lr=2e-5,weight-decay=0', *flags]
        _, losses, saved, _ = self.train(half, 'gpt2', flags)
        before = self.train(wide, 'gpt2', ['--optimizer=sgd,lr=0'], steps=1)[2]
        state, begin = self.interp.read_safetensors(saved), self.interp.read_safetensors(before)
        moved = [np.mean(state[name] != begin[name]) for name in state]
        if not np.isfinite(losses).all() or not np.mean(moved) > 0.8:
            raise Failed(f'losses {losses}, {np.mean(moved):.2f} of the parameters moved')
        return f'{np.mean(moved):.2f} moved'

    def saved_model(self, case, narrow):
        """--save-onnx writes the types of the file, and the nearest numbers to those that were trained; it trains again."""
        half, _ = self.models(case, narrow)
        _, losses, saved, stem = self.train(half, case, [])
        before, after = onnx.load(half), onnx.load(stem + '.onnx')
        onnx.checker.check_model(after, full_check=narrow == 'f16')
        for kind in ('input', 'output'):
            types = [[value.type.tensor_type.elem_type for value in getattr(model.graph, kind)] for model in (before, after)]
            if types[0] != types[1]:
                raise Failed(f'{kind}s of types {types[1]} for {types[0]}')
        state, seen = self.interp.read_safetensors(saved), 0
        for tensor in after.graph.initializer:
            if tensor.name not in state:
                continue
            seen += 1
            if tensor.data_type != ONNX_TYPES[narrow]:
                raise Failed(f'{tensor.name} has type {tensor.data_type}')
            if tensor.raw_data != bits_of(state[tensor.name], narrow).tobytes():
                raise Failed(f'{tensor.name} is not the nearest')
        if not seen:
            raise Failed('no parameter in the model')
        _, next_losses, _, _ = self.train(stem + '.onnx', case, [], steps=1)
        if not abs(next_losses[0] - losses[0]) < 0.5 * losses[0]:
            raise Failed(f'loss {next_losses[0]} after {losses}')
        return f'{seen} tensors'

    def as_exported(self, narrow):
        """--as-exported alone keeps the file's types; with a precision it keeps the graph alone."""
        half, _ = self.models('mlp', narrow)
        said, _, saved, _ = self.train(half, 'mlp', ['--as-exported'], steps=1)
        if set(dtypes(saved).values()) != {SAFETENSORS_TYPES[narrow]} or 'optimizer state' in said:
            raise Failed(f'{dtypes(saved)}, {said}')
        said, _, saved, _ = self.train(half, 'mlp', ['--as-exported', '--precision=f32'])
        if set(dtypes(saved).values()) != {'F32'} or 'optimizer state' not in said:
            raise Failed(f'{dtypes(saved)}, {said}')
        return SAFETENSORS_TYPES[narrow]

    def continued(self, narrow):
        """A checkpoint holds f32, and a run under another precision and mesh goes on with it."""
        half, _ = self.models('llama', narrow)
        folder = os.path.join(self.runner.folder, f'checkpoint-{narrow}')
        self.train(half, 'llama', [], [f'--checkpoint={folder}'], steps=3)
        with open(os.path.join(folder, 'step-3', 'manifest.json')) as file:
            types = {tensor['dtype'] for tensor in json.load(file)['tensors']}
        if types != {'F32'}:
            raise Failed(f'a checkpoint of {types}')
        _, whole, _, _ = self.train(half, 'llama', [])
        _, losses, _, _ = self.train(half, 'llama', ['--mesh=data=2', '--zero=2', '--precision=bf16'],
                                     [f'--checkpoint={folder}', '--resume'])
        if losses.shape != (3,) or not np.allclose(losses, whole[3:], rtol=1e-2):
            raise Failed(f'losses {losses} for {whole[3:]}')
        return 'F32'

    def init_params(self, narrow):
        """A file of parameters in 16 bits, as the module's own is, sets parameters of f32."""
        half, wide = self.models('mlp', narrow)
        _, _, exact, _ = self.train(wide, 'mlp', [], steps=3)
        state = self.interp.read_safetensors(exact)
        narrowed = os.path.join(self.runner.folder, f'narrow-{narrow}.safetensors')
        entries, data = {}, b''
        for name, values in state.items():
            begin, data = len(data), data + bits_of(values, narrow).tobytes()
            entries[name] = {'dtype': SAFETENSORS_TYPES[narrow], 'shape': list(values.shape), 'data_offsets': [begin, len(data)]}
        header = json.dumps(entries).encode()
        with open(narrowed, 'wb') as file:
            file.write(struct.pack('<Q', len(header)) + header + data)
        _, _, saved, _ = self.train(half, 'mlp', ['--optimizer=sgd,lr=0'], [f'--init-params={narrowed}'], steps=1)
        for name, values in self.interp.read_safetensors(saved).items():
            if not np.array_equal(values, rounded(state[name], narrow)):
                raise Failed(f'{name} is not what the file has')
        return f'{len(state)} tensors'

    def inferred(self, narrow):
        """A program that infers computes in the file's types, and in f32 where that is asked for."""
        half, _ = self.models('mlp', narrow)
        inputs = os.path.join(self.runner.folder, 'x.npy')
        np.save(inputs, np.load(os.path.join(self.interp.MODELS, 'mlp', 'data.npz'))['x'])
        results = []
        for i, flags in enumerate(([], ['--precision=f32'])):
            stem = os.path.join(self.runner.folder, f'infer-{narrow}-{i}')
            self.runner.tool('dpc-compile', half, '-o', stem, '--shape=x:8x16', *flags)
            self.runner.tool('dpc-run', stem, f'--input=x={inputs}', f'--output=logits={stem}.npy')
            results.append(np.load(stem + '.npy').astype(np.float32))
        own, wide = results
        if not np.array_equal(own, rounded(own, narrow)) or np.array_equal(wide, rounded(wide, narrow)):
            raise Failed('outputs of another type')
        if not np.allclose(own, wide, rtol=0.05, atol=0.05):
            raise Failed('other outputs')
        return f'{own.size} numbers'


def checks(runner, interp):
    tests = Files(runner, interp)
    for narrow in ONNX_TYPES:
        # What differs between the two types is the file alone.
        for case, flags in [(case, []) for case in CASES] + (FLAGS if narrow == 'bf16' else FLAGS[3:5]):
            yield ' '.join(['file', narrow, case, *flags]), lambda n=narrow, c=case, f=flags: tests.same(c, n, f)
        for flags in ([], ['--precision=bf16'], ['--precision=f16']):
            yield ' '.join(['file', narrow, 'moves', *flags]), lambda n=narrow, f=flags: tests.moves(n, f)
        for case in ('mlp', 'gpt2'):
            yield f'file {narrow} {case} saved as a model', lambda n=narrow, c=case: tests.saved_model(c, n)
        for name, check in (('as exported', tests.as_exported), ('resumed', tests.continued),
                            ('parameters in 16 bits', tests.init_params), ('inferred', tests.inferred)):
            yield f'file {narrow} {name}', lambda n=narrow, c=check: c(n)
