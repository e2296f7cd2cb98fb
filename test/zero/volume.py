"""Elements that a rank sends in a step: by the program's text at level `exec`, and by what a run records in its trace."""
import collections
import json
import re

# Parts of n elements that one of N ranks sends: of what it has in the end, all shards (Rajbhandari et al., "ZeRO: Memory
# optimizations toward training trillion parameter models", 2020, section 7).
SENT = {'all_reduce': 2, 'reduce_scatter': 1, 'all_gather': 1}


def elements(shape):
    count = 1
    for extent in shape:
        count *= int(extent)
    return count


def of_program(text, ranks):
    """By kind: elements that a rank sends of parameters and gradients, in one step."""
    step = text[text.index('@step'):]
    step = step[:step.index('@eval')] if '@eval' in step else step
    sent = collections.Counter()
    for kind, attributes, shapes in re.findall(r'exec\.start (\w+) \w+ over [^{\n]* id \d+(.*) : (.*)$', step, re.MULTILINE):
        if 'metrics' in attributes:
            continue
        largest = max(elements(shape.split('x')[:-1]) for shape in re.findall(r'memref<([^>]*)>', shapes))
        sent[kind] += SENT[kind] * largest * (ranks - 1) // ranks
    return sent


def of_run(path, ranks):
    """The same by a rank's trace, of its first step."""
    with open(path) as file:
        events = [event for event in json.load(file)['traceEvents'] if event.get('cat') == 'comm']
    sent = collections.Counter()
    for event in events:
        # A single number is a metric.
        if event['args']['step'] != 1 or event['args']['In msg nelems'] == 1:
            continue
        kind = event['name'].replace('-', '_')
        count = event['args']['In msg nelems']
        # Of these two the number is a rank's part.
        whole = count * ranks if kind != 'all_reduce' else count
        sent[kind] += SENT[kind] * whole * (ranks - 1) // ranks
    return sent


def parameters(text, ranks):
    """Elements of all parameters, and of the storage in which they lie, by the text of a program."""
    own = padded = 0
    for members, cut, whole in re.findall(
            r'exec\.persistent @storage\.parameter\S* #dist\.storage<"[^"]*" \[(.*?)\]( over \[[^\]]*\])?> .* : memref<(\d+)x', text):
        padded += int(whole) * (ranks if cut else 1)
        own += sum(elements(shape.split('x')[:-1]) for shape in re.findall(r', tensor<([^>]*)>, <', members))
    return own, padded
