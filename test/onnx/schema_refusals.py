"""Nodes that their schema forbids, made from a legal one of each operator and version: onnx.checker must refuse each
(that is asserted), and dpc by a message that names the node and what is wrong."""
import copy
import os
import re
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper

from schema_forms import FIRST, TYPES, Forms

ELEMENTS = {name: helper.np_dtype_to_tensor_dtype(np.dtype(dtype)) for name, dtype in TYPES.items()}
# For each type of attribute another one.
OTHER = {'INT': 0.5, 'FLOAT': 3, 'STRING': 3, 'INTS': 3, 'FLOATS': [1, 2], 'STRINGS': 'text', 'TENSOR': 3, 'GRAPH': 3,
         'SPARSE_TENSOR': 3}


class Refusal:
    def __init__(self, case, kind, model, message, who):
        self.name, self.model, self.message = f'{case.name.rsplit("/", 1)[0]}/refused: {kind}', model, message
        self.kind, self.who = kind.split(' ')[0], who


class Refusals:
    """Collects what is refused of one operator at one version, from a legal case of it."""

    def __init__(self, schema, case):
        self.schema, self.case, self.found = schema, case, []
        self.legal = case.model(case.results)
        self.at = next(i for i, node in enumerate(case.nodes) if node.op_type == schema.name)

    def add(self, kind, message, mutate, opset=None, who='the_node'):
        """`mutate` (node, graph) makes the model illegal."""
        model = copy.deepcopy(self.legal)
        node = model.graph.node[self.at]
        node.name = 'the_node'
        mutate(node, model.graph)
        if opset:
            model.opset_import[0].version = opset
        self.found.append(Refusal(self.case, kind, model, message, who))

    def attributes(self):
        def put(name, value):
            def mutate(node, graph):
                for i, each in reversed(list(enumerate(node.attribute))):
                    if each.name == name:
                        del node.attribute[i]
                if value is not None:
                    node.attribute.append(helper.make_attribute(name, value))
            return mutate
        if self.schema.name != 'LayerNormalization':  # which takes any
            self.add('unknown attribute', "has no attribute 'no_such'", put('no_such', 1))
        for name, attribute in sorted(self.schema.attributes.items()):
            kind = str(attribute.type).split('.')[-1]
            self.add(f'type of {name}', rf"attribute '{name}' has type \w+ but must have {kind}", put(name, OTHER[kind]))
            if attribute.required:
                self.add(f'without {name}', f"attribute '{name}' is missing", put(name, None))

    def counts(self):
        schema, infinite = self.schema, 2 ** 31 - 1

        def inputs(change):
            return lambda node, graph: change(node.input)

        def outputs(change):
            return lambda node, graph: change(node.output)
        if schema.min_input:
            def fewer(names):
                del names[schema.min_input - 1:]
            self.add('fewer inputs', r'has \d+ inputs but must have', inputs(fewer))

            def omit(names):
                names[schema.min_input - 1] = ''
            if Forms.kind(schema.inputs[schema.min_input - 1]) == 'one':
                self.add('omitted input', f"input {schema.min_input - 1} .* is omitted but required", inputs(omit))
        if schema.max_input < infinite:
            def more(node, graph):
                name = node.input[0] if node.input else 'extra'
                if not node.input:
                    graph.input.append(helper.make_tensor_value_info('extra', TensorProto.FLOAT, [1]))
                node.input.extend([name] * (schema.max_input + 1 - len(node.input)))
            self.add('more inputs', r'has \d+ inputs but must have', more)
        if schema.max_output < infinite:
            def extra(names):
                names.extend(f'extra{i}' for i in range(schema.max_output + 1 - len(names)))
            self.add('more outputs', r'has \d+ outputs but must have', outputs(extra))

    def types(self):
        """For each input a type that its constraint lacks; and two inputs of one variable with different types."""
        allowed = {each.type_param_str: each.allowed_type_strs for each in self.schema.type_constraints}
        node = self.case.nodes[self.at]
        first = {}
        for i, name in enumerate(node.input):
            formal = self.schema.inputs[min(i, len(self.schema.inputs) - 1)]
            legal = allowed.get(formal.type_str, [formal.type_str])
            if name not in self.case.arrays:
                continue
            wrong = next((each for each in TYPES if f'tensor({each})' not in legal), None)
            if wrong:
                self.add(f'element type of {formal.name} {i}', rf"input {i} \('{formal.name}'\) has type .* but must have",
                         self.retyped(name, wrong))
            if formal.type_str in first and formal.is_homogeneous:
                own = helper.np_dtype_to_tensor_dtype(self.case.arrays[name].dtype)
                other = next((each for each in TYPES if f'tensor({each})' in legal and ELEMENTS[each] != own), None)
                if other and formal.type_str in allowed:
                    self.add(f'mixed types of {formal.name} {i}', 'but must have one', self.retyped(name, other))
            first.setdefault(formal.type_str, name)

    def result_types(self):
        """A type that the attribute asks for and the results cannot have."""
        allowed = {each.type_param_str: each.allowed_type_strs for each in self.schema.type_constraints}
        legal = allowed.get(self.schema.outputs[0].type_str, ())
        wrong = next((each for each in reversed(TYPES) if f'tensor({each})' not in legal), None)
        makers = {name: lambda kind: kind for name in ('to', 'dtype') if name in self.schema.attributes}
        if self.schema.name == 'ConstantOfShape':
            makers['value'] = lambda kind: helper.make_tensor('value', kind, [1], [1])
        for name, make in makers.items() if wrong and self.schema.name != 'SequenceEmpty' else ():
            def mutate(node, graph, name=name, make=make):
                for i, each in reversed(list(enumerate(node.attribute))):
                    if each.name == name:
                        del node.attribute[i]
                node.attribute.append(helper.make_attribute(name, make(ELEMENTS[wrong])))
                graph.output[0].type.tensor_type.elem_type = ELEMENTS[wrong]
            self.add(f'result type by {name}', r'output 0 .* has type \w+ but must have|integer type cannot be drawn',
                     mutate)

    def retyped(self, name, element):
        def mutate(node, graph):
            for value in graph.input:
                if value.name == name:
                    value.type.tensor_type.elem_type = ELEMENTS[element]
            for tensor in graph.initializer:
                if tensor.name == name:
                    array = onnx.numpy_helper.to_array(tensor).astype(TYPES[element])
                    tensor.CopyFrom(onnx.numpy_helper.from_array(array, name))
        return mutate

    def declared_type(self):
        """A result of the graph that the file says to be of another type."""
        output = self.legal.graph.output[0]
        own = output.type.tensor_type.elem_type
        other = TensorProto.DOUBLE if own != TensorProto.DOUBLE else TensorProto.FLOAT

        def mutate(node, graph):
            graph.output[0].type.tensor_type.elem_type = other
        self.add('declared type', rf"output '{output.name}' is declared \w+ but is", mutate, who=output.name)

    def eras(self, first_version):
        if self.schema.since_version == first_version > FIRST:
            self.add(f'opset {first_version - 1}', rf'not supported: ai\.onnx\.{self.schema.name} \(opset '
                     rf"{first_version - 1}\)|withdrawn", lambda node, graph: None, opset=first_version - 1)

    def all(self, first_version):
        self.attributes()
        self.counts()
        self.types()
        self.result_types()
        self.declared_type()
        self.eras(first_version)
        return self.found


def is_legal(model):
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return False
    return True


def refusals(found, plain):
    """All that is refused. `plain`: a prepared case by (name, version). Mixed types that onnx.checker does not see are
    left out; anything else it must refuse."""
    first = {name: min(v for n, v in found if n == name) for name, _ in found}
    collected = []
    for key, schema in found.items():
        if key in plain:
            collected += Refusals(schema, plain[key]).all(first[key[0]])
    return [each for each in collected if each.kind != 'mixed' or not is_legal(each.model)]


def check_refusals(tools, folder, collected, compiled=None):
    """{name: what is wrong} of all of `collected`, imported by one process; those in `compiled` by dpc-compile too."""
    wrong, files = {}, {}
    for i, each in enumerate(collected):
        path = os.path.join(folder, f'refused{i}.onnx')
        onnx.save(each.model, path)
        files[path] = each
        wrong[each.name] = 'dpc-import-onnx ends before it'
        if each.kind != 'mixed' and is_legal(each.model):
            wrong[each.name] = 'onnx.checker accepts it'
    listing = os.path.join(folder, 'refused.txt')
    with open(listing, 'w') as file:
        file.write('\n'.join(files))
    done = subprocess.run([os.path.join(tools, 'dpc-import-onnx'), '--each', '@' + listing], capture_output=True,
                          text=True, errors='replace', timeout=600)
    for line in done.stdout.splitlines():
        path, _, said = line.partition(': ')
        each = files.get(path)
        if each and not wrong[each.name].startswith('onnx'):
            wrong[each.name] = problem(each, said)
    for each in collected:
        if each.kind in (compiled or ()) and not wrong[each.name]:
            compiled.remove(each.kind)
            path = next(path for path, one in files.items() if one is each)
            done = subprocess.run([os.path.join(tools, 'dpc-compile'), path, '-o', os.path.join(folder, 'refused')],
                                  capture_output=True, text=True, errors='replace', timeout=60)
            if done.returncode != 1 or len(done.stderr.strip().splitlines()) != 1:
                wrong[each.name] = f'dpc-compile exits {done.returncode}: {done.stderr[:300]}'
            else:
                wrong[each.name] = problem(each, done.stderr.strip())
    return wrong


def problem(each, said):
    if said == 'imported':
        return 'dpc imports it'
    if said.count('error:') != 1:
        return f'is not one error: {said[:300]}'
    if not re.search(each.message, said) or each.who not in said:
        return f'says "{said[:300]}", not {each.message}'
    return ''
