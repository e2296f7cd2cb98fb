"""Gate `trace`: dpc-report beside traces of runs."""
import json
import os
import re

import numpy as np

from page import MLP, MLP_TRAIN
from tools import expect, test

STEPS = 4
PROGRAMS = [('--mesh=data=1', 1), ('--mesh=data=2 --zero=1', 2), ('--mesh=data=2 --zero=3 --microbatches=4', 2),
            ('--mesh=data=2,model=2', 4), ('--mesh=pipe=2,data=2 --microbatches=2 --zero=2', 4),
            ('--mesh=pipe=2 --microbatches=4 --schedule=zero-bubble', 2), ('--mesh=data=2 --grad-reduce=bf16', 2)]


def run(tools, flags, ranks, name='run'):
    """Compiles and runs a program. Returns its plan, the plan as a trace, and the traces of its ranks."""
    plans = [tools.path(f'{name}.plan.json'), tools.path(f'{name}.plan.trace.json')]
    for plan in plans:
        tools.good('dpc-compile', *MLP_TRAIN, *flags.split(), '-o', tools.path(name), f'--report={plan}')
    data = np.random.default_rng(1)
    np.savez(tools.path('data.npz'), x=data.random((256, 16), dtype=np.float32), label=data.integers(0, 10, 256))
    trace = tools.path(f'{name}.json')
    tools.good('dpc-run', tools.path(name), f'--data={tools.path("data.npz")}', f'--steps={STEPS}', f'--trace={trace}')
    return (*plans, [trace if rank == 0 else trace.replace('.json', f'.rank{rank}.json') for rank in range(ranks)])


def sections(text):
    """By title: the rows of the table, as lists of cells."""
    found = {}
    for part in text.split('\n\n'):
        lines = part.rstrip('\n').split('\n')
        rows = [re.split(r' {2,}', line.strip()) for line in lines[1:]]
        found[lines[0]] = [row for row in rows if len(row) > 1]  # the others are lines of text
    return found


def events(path):
    with open(path) as file:
        return [event for event in json.load(file)['traceEvents'] if event['ph'] == 'X' and event['args']['step'] > 1]


def lies_beside(flags, ranks):
    def check(tools):
        plan, planned_trace, traces = run(tools, flags, ranks)
        text, _ = tools.good('dpc-report', plan, *traces, '--rows=0')
        found = sections(text)
        # The times are those of the files.
        with open(plan) as file:
            step = json.load(file)['step']
        measured = []
        for path in traces:
            by_step = {}
            for event in events(path):
                begin, end = by_step.get(event['args']['step'], (float('inf'), 0))
                by_step[event['args']['step']] = min(begin, event['ts']), max(end, event['ts'] + event['dur'])
            expect(len(by_step) == STEPS - 1, f'{path} has the steps {list(by_step)}')
            measured.append(sum(end - begin for begin, end in by_step.values()) / len(by_step) / 1e3)
        rows = [row for row in found['ONE STEP'] if re.match(r'rank \d+$', row[0])]
        expect(len(rows) == ranks, f'{found["ONE STEP"]}')
        for rank, row in enumerate(rows):
            timeline = next(each for each in step['timelines'] if rank in each['ranks'])
            expect(abs(float(row[1]) - timeline['end_s'] * 1e3) < 1e-3, f'{row} for {timeline["end_s"]} s')
            expect(abs(float(row[2]) - measured[rank]) < 2e-3, f'{row} for {measured[rank]} ms')
        # Each function and each operation of the traces has a row, those with the largest differences first.
        names = {event['name'] for path in traces for event in events(path) if event['cat'] == 'kernel'}
        functions = found['FUNCTIONS'][1:]
        expect({row[0] for row in functions} == names, f'{functions} for {names}')
        for title in ('FUNCTIONS', 'COLLECTIVES AND MESSAGES'):
            differences = [abs(float(row[-1])) for row in found.get(title, [[]])[1:]]
            expect(differences == sorted(differences, reverse=True), f'{title}: {differences}')
        for row in functions:
            own = [[event['dur'] for event in events(path) if event['name'] == row[0]] for path in traces]
            own = [times for times in own if times]
            mean = sum(sum(times) / (STEPS - 1) for times in own) / len(own) / 1e3
            expect(abs(float(row[-3]) - mean) < 2e-3, f'{row} for {mean} ms')
        # The play sends what the runs sent.
        sent = [row for row in found.get('BYTES SENT IN A STEP', [])[1:]]
        expect(bool(sent) == (ranks > 1) and all(row[-1] == '1.000' for row in sent), f'{sent}')
        kinds = {(str(rank), event['name']) for rank, path in enumerate(traces) for event in events(path)
                 if event['cat'] == 'comm' and event['name'] != 'recv'}
        expect({tuple(row[:2]) for row in sent} == kinds, f'{sent} for {kinds}')
        # The plan as a trace says the same; only the name of the machine is not in it.
        other, _ = tools.good('dpc-report', planned_trace, *traces, '--rows=0')
        same = sections(other)
        predicted = [sorted((row[0], row[-4]) for row in each['FUNCTIONS'][1:]) for each in (found, same)]
        for one, two in zip(*predicted):
            expect(one[0] == two[0] and abs(float(one[1]) - float(two[1])) < 2e-3, f'{one} and {two}')
        expect(same.get('BYTES SENT IN A STEP') == found.get('BYTES SENT IN A STEP'), f'{same} and {found}')
    return check


for flags, ranks in PROGRAMS:
    function = lies_beside(flags, ranks)
    function.__name__ = flags
    test('trace')(function)


@test('trace')
def bad_files_have_one_line(tools):
    plan, _, traces = run(tools, '--mesh=data=2 --zero=1', 2)
    report = ['dpc-report', plan]
    other, _, _ = run(tools, '--mesh=data=2 --zero=0', 2, 'other')
    tools.refused(1, f'{traces[0]}: is a trace of another plan: on rank 0, ', 'dpc-report', other, traces[0])
    one, _, single = run(tools, '--mesh=data=1', 1, 'one')
    tools.refused(1, f'{single[0]}: is a trace of another plan: 1 ranks, and 2 in the plan', *report, single[0])
    with open(traces[0]) as file:
        text = file.read()
    for name, changed, message in (('cut.json', text[:len(text) // 2], 'is not complete JSON'), ('text.json', 'hello', 'is not complete JSON'),
                                   ('empty.json', '', 'is not complete JSON'), ('list.json', '[]', 'has no JSON object'),
                                   ('object.json', '{}', 'is no trace of dpc-run'),
                                   ('dropped.json', text.replace('"droppedEvents":0', '"droppedEvents":7'), 'lacks 7 events'),
                                   ('fewer.json', re.sub(r'\{"name":"step.1".*\n', '', text), 'function step.1 runs 0 times'),
                                   ('eval.json', text.replace('"step.1"', '"eval.1"'), 'has function eval.1, which is not of a training step')):
        path = tools.write(name, changed)
        tools.refused(1, f'{path}: ', *report, path)
        tools.refused(1, message, *report, path)
    tools.refused(1, f'{plan}: is no trace', *report, plan)
    tools.refused(1, f'{traces[0]}: is the trace of a run; the first file', 'dpc-report', *traces)
    tools.refused(1, '/nowhere: No such file', *report, '/nowhere')
    tools.refused(1, f'{traces[0]}: is of rank 0, as {traces[0]}', *report, traces[0], traces[0])
    inferring = tools.path('infer.json')
    tools.good('dpc-compile', MLP, '--shape=x:24x16', '-o', tools.path('infer'), '--stop-after=exec', f'--report={inferring}')
    tools.refused(1, f'{inferring}: has no step', 'dpc-report', inferring, traces[0])
    tools.refused(2, 'a plan and at least one trace are needed', *report)
    tools.refused(2, "unknown option '--rank=1'", *report, traces[0], '--rank=1')
    tools.refused(2, '--rows=x is not a whole number', *report, traces[0], '--rows=x')


@test('trace')
def tables_have_an_end(tools):
    plan, _, traces = run(tools, '--mesh=data=2', 2)
    text, _ = tools.good('dpc-report', plan, *traces, '--rows=1')
    expect(re.search(r'FUNCTIONS\n.*\n.*\n  and \d+ more\n', text), text)
    out, _ = tools.good('dpc-report', '--help')
    expect('dpc-report PLAN.json TRACE.json..' in out and '--rows=N' in out, out)
    out, _ = tools.good('dpc-report', '--version')
    expect(re.fullmatch(r'dpc-report \d+\.\d+\.\d+\n', out), out)
