"""What ranks need beside their own memory, to save and load a model that is large against the bound."""
import os
import subprocess
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

WIDTH, LAYERS, RANKS = 1536, 4, 4
LAYER = WIDTH * WIDTH * 4
PARAMETERS = LAYERS * LAYER
STATE = 3 * PARAMETERS  # Adam's two moments
BUFFER = 16 << 20
PROCESS = 8 << 20  # of a program that has hardly begun
# Runs the program in $PROGRAM, and writes the most memory that it had to $PEAK.RANK.
WRAPPER = f'''#!{sys.executable}
import os, sys
child = os.fork()
if child == 0:
    os.execv(os.environ['PROGRAM'], sys.argv)
_, status, usage = os.wait4(child, 0)
with open(os.environ['PEAK'] + '.' + os.environ['RANK'], 'w') as file:
    file.write(str(usage.ru_maxrss * 1024))
sys.exit(os.waitstatus_to_exitcode(status))
'''


class Memory:
    def __init__(self, tools, folder, failed):
        self.tools, self.folder, self.failed = tools, folder, failed
        self.program, self.known = None, {}

    def path(self, name):
        return os.path.join(self.folder, 'memory.' + name)

    def prepare(self):
        if self.program:
            return
        random = np.random.default_rng(1)
        names = ['x', *(f'h{i}' for i in range(LAYERS))]
        nodes = [helper.make_node('MatMul', [names[i], f'w{i}'], [names[i + 1]]) for i in range(LAYERS)]
        weights = [numpy_helper.from_array((random.standard_normal((WIDTH, WIDTH)) / WIDTH).astype(np.float32), f'w{i}')
                   for i in range(LAYERS)]
        shape = [8, WIDTH]
        graph = helper.make_graph(nodes, 'wide', [helper.make_tensor_value_info('x', 1, shape)],
                                  [helper.make_tensor_value_info(names[-1], 1, shape)], weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)]), self.path('onnx'))
        x = random.standard_normal((8, WIDTH)).astype(np.float32)
        np.savez(self.path('npz'), x=x, label=x)
        with open(self.path('wrapper'), 'w') as file:
            file.write(WRAPPER)
        os.chmod(self.path('wrapper'), 0o755)
        self.call('dpc-compile', self.path('onnx'), '--loss=mse', '--optimizer=adam,lr=1e-9', f'--mesh=data={RANKS}', '--zero=3',
                  '--params=none', '-o', self.path('program'))
        self.call('dpc-compile', self.path('onnx'), '--loss=mse', '--optimizer=adam,lr=1e-9', '-o', self.path('whole'))
        self.call('dpc-compile', self.path('onnx'), f'--mesh=model={RANKS}', '--params=none', '-o', self.path('infer'))
        # What the program begins with: no rank may need more than its part of it.
        self.call('dpc-run', self.path('whole'), *self.training(1), '--save-params=' + self.path('start'),
                  '--checkpoint=' + self.path('one'))
        self.program = self.path('program')

    def call(self, *command, **environment):
        done = subprocess.run([os.path.join(self.tools, command[0]), *command[1:]], capture_output=True, text=True, timeout=300,
                              env={**os.environ, **environment})
        if done.returncode:
            raise self.failed(f'{command[0]} exits {done.returncode}: {done.stderr.strip()[-500:]}')

    def training(self, steps):
        return f'--data={self.path("npz")}', f'--steps={steps}'

    def peaks(self, *flags, program=None):
        """Of each rank, in a run of one step, or of another program without one."""
        self.prepare()
        key = program, *flags
        if key not in self.known:
            begin = [] if program else self.training(1)
            self.call('dpc-run', '-n', str(RANKS), self.path('wrapper'), *begin, *flags,
                      PROGRAM=self.path(program) if program else self.program, PEAK=self.path('peak'))
            values = []
            for rank in range(RANKS):
                with open(f'{self.path("peak")}.{rank}') as file:
                    values.append(int(file.read()))
            self.known[key] = values
        return self.known[key]

    def check(self, share, *flags):
        """No rank has more than `share` and a buffer beside what training takes."""
        base = self.peaks('--init-params=' + self.path('start'))
        got = self.peaks(*(flag.replace('HERE', self.path('')) for flag in flags))
        more = [b - a for a, b in zip(base, got)]
        if max(more) > share + BUFFER:
            raise self.failed(f'ranks take {[m >> 20 for m in more]} MiB more, {share + BUFFER >> 20} MiB are theirs to take')
        return f'{[round(m / 2 ** 20, 1) for m in more]} MiB more of {share + BUFFER >> 20}'

    def check_most(self, most, *flags, program=None):
        got = self.peaks(*(flag.replace('HERE', self.path('')) for flag in flags), program=program)
        if max(got) > most + BUFFER + PROCESS:
            raise self.failed(f'ranks take {[g >> 20 for g in got]} MiB, {most + BUFFER + PROCESS >> 20} MiB are theirs to take')
        return f'{[g >> 20 for g in got]} MiB of {most + BUFFER + PROCESS >> 20}'

    def tests(self):
        start = '--init-params=' + self.path('start')
        # It is loaded and written again; nothing else is done.
        yield 'memory of --init-params', lambda: self.check_most(PARAMETERS // RANKS, start, '--save-params=HEREcopy', program='infer')
        yield 'memory of --resume', lambda: self.check_most(2 * STATE // RANKS, '--resume=HEREone', '--checkpoint=HEREresumed')
        yield 'memory of a checkpoint', lambda: self.check(STATE // RANKS, start, '--checkpoint=HEREnew')
        yield 'memory of --save-params', lambda: self.check(0, start, '--save-params=HEREsaved')
        yield 'memory of --save-onnx', lambda: self.check(0, start, '--save-onnx=HEREsaved.onnx')
