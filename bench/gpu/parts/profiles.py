"""Part 3: the device's time for each launch of a step, beside what the plan foretold for it."""
import os

from sitting import Failed, Item, read_lines


def join(measured, foretold):
    """A line per launch of a step, with its work and its times. The estimate of a kernel of several launches is in the line of the
    first one, and `us` of such a kernel is in `kernel_us` there."""
    known = {(line['function'], line['number']): line for line in foretold if line['entry'] == 'step'}
    rows = []
    for line in measured:
        if line['entry'] != 'step':
            continue
        row = {'kind': line['kind'], 'us': line.get('us'), 'least_us': line.get('least_us')}
        launch = known.get((line.get('function'), line.get('number')))
        if line['kind'] in ('kernel', 'library', 'copy', 'fill') and launch is None:
            raise Failed(f"launch {line.get('number')} of {line.get('function')} is not in launches.jsonl of the pack")
        if launch:
            row['name'] = launch.get('name') or launch['kind']
            row['kernel'] = launch.get('kernel')
            row['nodes'] = launch['nodes'][:2]
            row['ops'] = sorted({op['name'] for op in launch.get('ops', ())})
            row['buffer_bytes'] = sum(buffer['bytes'] for buffer in launch['buffers'])
            estimate = launch.get('estimate')
            if estimate:
                row.update(part=estimate['part'], parts=estimate['parts'], **{'class': estimate['class']})
                if estimate['part'] == 0:
                    row.update(flops=estimate['flops'], bytes=estimate['bytes'], foretold_us=estimate['us'])
        rows.append(row)
    for at, row in enumerate(rows):
        if row.get('part') == 0:
            us = sum(each['us'] or 0 for each in rows[at:at + row['parts']])
            row['kernel_us'] = us
            if us > 0:
                row['GB_per_s'] = row['bytes'] / us * 1e-3
                row['TFLOP_per_s'] = row['flops'] / us * 1e-6
    return rows


def rounded(row):
    return {key: float(f'{value:.5g}') if isinstance(value, float) else value for key, value in row.items()}


def profile(pack, name, precision):
    def measure(limit):
        path = os.path.join(pack.folder, f'{name}.{precision}.profile')
        contender = pack.contender(name, precision, limit, DPC_BENCH_PROFILE=path)
        try:
            contender.steps = pack.options.profile_steps
            contender.run()
        finally:
            contender.quit()
        rows = join(read_lines(path), pack.launches(name, precision))
        yield from ({'launch': number, **rounded(row)} for number, row in enumerate(rows))
        by_class = {}
        for row in rows:
            if 'kernel_us' in row:
                one = by_class.setdefault(row['class'], {'us': 0, 'foretold_us': 0, 'launches': 0, 'bytes': 0, 'flops': 0})
                for key, value in (('us', row['kernel_us']), ('foretold_us', row['foretold_us']), ('launches', row['parts']),
                                   ('bytes', row['bytes']), ('flops', row['flops'])):
                    one[key] += value
        yield {'workload': name, 'precision': precision, 'launches': len(rows),
               'step_us': sum(row['us'] or 0 for row in rows), 'foretold_us': sum(row.get('foretold_us', 0) for row in rows),
               'by_library': sum(row['kind'] == 'library' for row in rows),
               'classes': {kind: rounded(one) for kind, one in by_class.items()}}
    return measure


def items(pack):
    return [Item(f'profile {name} {precision}', profile(pack, name, precision), 60) for name, precision in pack.workloads()]
