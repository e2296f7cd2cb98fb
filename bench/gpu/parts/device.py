"""Part 1: the device by itself: clocks, copies, launches, cuBLASLt. From these it writes a topology file."""
import json
import os
import shutil

from sitting import Failed, Item, json_lines, run

TYPES = {'f32': ('f32', 'f32'), 'tf32': ('tf32', 'f32'), 'bf16': ('bf16', 'bf16')}
CLOCKS = 'clocks.sm,clocks.max.sm,clocks.mem,clocks.max.mem,power.draw,power.limit,temperature.gpu,driver_version'


def gpt2_products(rows, width):
    """(rows, columns, depth, whether a and b are transposed) of the products of a layer, forward and backward: twelve."""
    products = []
    for columns, depth in (3 * width, width), (width, width), (4 * width, width), (width, 4 * width):
        products += [(rows, columns, depth, 0, 0), (rows, depth, columns, 0, 1), (depth, columns, rows, 1, 0)]
    return products


def device(pack):
    def measure(limit):
        yield {key: pack.manifest[key] for key in ('commit', 'arch', 'small', 'foretold')}
        yield from json_lines(pack.tool('facts'), limit)
        if shutil.which('nvidia-smi'):
            try:
                values = run(['nvidia-smi', '--query-gpu=' + CLOCKS, '--format=csv,noheader,nounits'], limit).splitlines()[0]
                yield {'clocks': dict(zip(CLOCKS.split(','), (value.strip() for value in values.split(','))))}
            except Failed as error:
                yield {'clocks': str(error)}
    return measure


def simple(pack, *command):
    return lambda limit: json_lines(pack.tool(*command), limit)


def products(pack, kind):
    def measure(limit):
        factors, result = TYPES[kind]
        rows, width, words = pack.options.product_sizes
        shapes = [*gpt2_products(rows, width), (rows, words, width, 0, 1), (rows, width, words, 0, 0), (words, width, rows, 1, 0)]
        text = ''.join(f"{factors} {result} {' '.join(map(str, shape))}\n" for shape in shapes)
        yield from json_lines(pack.tool('products'), limit, text)
    return measure


def foretelling(found, base):
    """The object of a topology file for one device, from the results of this part. `base` has what was not measured."""
    facts = next(line for line in found if 'memory_bytes' in line)
    copies = [line for line in found if 'copy_GB_per_s' in line]
    launch = next((line for line in found if 'graph_us' in line), None)
    bandwidth = max(line['copy_GB_per_s'] for line in copies)
    rates, points = dict(base['device']['TFLOP_per_s']), {}
    for line in found:
        if 'TFLOP_per_s' in line:
            kind = line['product'].split()[0]
            points.setdefault(kind, []).append((line['GFLOP'], line['TFLOP_per_s']))
    for kind, reached in points.items():
        rates[kind] = max(rate for _, rate in reached)
    if 'bf16' in points:
        rates['f16'] = rates['bf16']  # devices have the same rate for both
    made = {
        'memory_GiB': round(facts['memory_bytes'] / (1 << 30), 1), 'memory_GB_per_s': bandwidth,
        'launch_us': launch['graph_us'] if launch else base['device']['launch_us'],
        'TFLOP_per_s': {kind: round(rate, 2) for kind, rate in rates.items()}}
    return {'name': f"one {facts['name']}, measured", 'source': 'Fastest copies and products of bench/gpu/run-all, part 1. Rates of other types: ' + base['device'].get('source', base['name']),
            'device': made, 'levels': [{'name': 'one device', 'size': 1, 'GB_per_s': bandwidth}]}


def topology(pack, results):
    def write(_):
        found = [line for line in results.lines if line.get('part') == 1]
        if not any('copy_GB_per_s' in line for line in found) or not any('memory_bytes' in line for line in found):
            raise Failed('the device or its copies were not measured')
        made = foretelling(found, pack.manifest['topology'])
        with open(pack.options.topology, 'w') as file:
            json.dump(made, file, indent=2)
            file.write('\n')
        yield {'file': os.path.basename(pack.options.topology), 'topology': made}
    return write


def items(pack, results):
    return [Item('device', device(pack), 30), Item('copies', simple(pack, 'copies', str(pack.options.most_mib)), 30),
            *(Item(f'products {kind}', products(pack, kind), 60) for kind in ('bf16', 'f32', 'tf32')),
            Item('launches', simple(pack, 'launches'), 30), Item('topology file', topology(pack, results), 10)]
