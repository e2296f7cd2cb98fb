#!/usr/bin/env python3
"""Writes SchemaTable.inc, what the importer knows of ONNX's operators, from the schemas of the onnx wheel.

  frontends/onnx/Model/make_schemas.py            writes the file beside this script
  frontends/onnx/Model/make_schemas.py --check    exit status 1 when it is not what would be written

The table has every version of every operator of domain ai.onnx that is in force at an opset that dpc reads. Needs
python3 with the onnx of scripts/requirements.txt.
"""
import os
import re
import struct
import sys

import onnx
from onnx import TensorProto, checker, defs, helper

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, 'SchemaTable.inc')
SEQUENCE = 32  # bit N stands for tensor(X), bit N + SEQUENCE for seq(tensor(X))
# The names of element types in schemas that are not the lower-case names of TensorProto.
NAMES = {'FLOAT': 'float', 'DOUBLE': 'double'}
ELEMENTS = {NAMES.get(name, name.lower()): number for name, number in TensorProto.DataType.items() if number}
HEADER = """\
// Made by make_schemas.py from onnx {version}; test/onnx/run -k schemas/table compares.
//
// Every version of every operator that is in force at an opset from {first} to {last}, ordered by name and version.

// clang-format off
"""


def opsets():
    """The opsets that dpc reads; Check.h defines them."""
    with open(os.path.join(HERE, 'Check.h')) as file:
        first, last = re.search(r'kMinOpset = (\d+), kMaxOpset = (\d+)', file.read()).groups()
    return range(int(first), int(last) + 1)


def schemas():
    """The schemas in force at some opset, by name and version. Includes versions that withdraw an operator."""
    found = {}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain:
            continue
        for opset in opsets():
            if schema.since_version <= opset:
                current = defs.get_schema(schema.name, opset, '')
                found[current.name, current.since_version] = current
    return [found[key] for key in sorted(found)]


def bits(types):
    """A set of types as a number. Optionals and maps are left out, because dpc does not support them."""
    total = 0
    for text in types:
        match = re.fullmatch(r'(seq\()?tensor\((\w+)\)\)?', text)
        if match:
            total |= 1 << (ELEMENTS[match.group(2)] + (SEQUENCE if match.group(1) else 0))
    return total


def quoted(text):
    return '"' + text.replace('\\', '\\\\').replace('"', '\\"') + '"'


def number(value):
    """A float as the shortest decimal that reads back as the same f32."""
    for digits in range(1, 10):
        text = f'{value:.{digits}g}'
        if struct.pack('f', float(text)) == struct.pack('f', value):
            break
    return (text if re.search(r'[.e]', text) else text + '.0') + 'f'


def takes_any_attribute(schema):
    """Whether nodes may have attributes that the schema does not list. Only a call of onnx.checker can tell."""
    values = {'INT': 1, 'FLOAT': 0.5, 'STRING': 'a', 'INTS': [1], 'GRAPH': helper.make_graph([], 'g', [], [])}
    attributes = {each.name: values[str(each.type).split('.')[-1]]
                  for each in schema.attributes.values() if each.required}
    inputs = [f'i{k}' for k in range(schema.min_input)]
    node = helper.make_node(schema.name, inputs, [f'o{k}' for k in range(max(schema.min_output, 1))], not_listed=1,
                            **attributes)
    context = checker.C.CheckerContext()
    context.ir_version = onnx.IR_VERSION
    context.opset_imports = {'': max(schema.since_version, opsets()[0])}
    try:
        checker.check_node(node, context)
    except checker.ValidationError as error:
        if 'not_listed' not in str(error):
            raise
        return False
    return True


class Writer:
    """Makes the entries of the table, and the constants that the entries name. Equal constants are written once."""

    def __init__(self):
        self.sets = {}
        self.lists = {}

    def type_set(self, types):
        return self.sets.setdefault(bits(types), f't{len(self.sets)}')

    def list(self, kind, items):
        """The name of the constant array of `items`."""
        if not items:
            return '{}'
        return self.lists.setdefault((kind, ', '.join(items)), f'{kind[0].lower()}{len(self.lists)}')

    def parameter(self, schema, formal):
        variables = {each.type_param_str: each.allowed_type_strs for each in schema.type_constraints}
        variable = formal.type_str if formal.type_str in variables else ''
        option = defs.OpSchema.FormalParameterOption
        kind = {option.Single: 'one', option.Optional: 'optional', option.Variadic: 'many'}[formal.option]
        words = [quoted(formal.name), quoted(variable), self.type_set(variables.get(variable, [formal.type_str]))]
        if kind == 'many':
            words += [str(formal.min_arity), 'true' if formal.is_homogeneous else 'false']
        return f'{kind}({", ".join(words)})'

    def attribute(self, attribute):
        name, value = quoted(attribute.name), attribute.default_value
        kind = str(attribute.type).split('.')[-1]
        if attribute.required:
            return f'required({name}, Type::{kind})'
        if not value.name:
            return f'given({name}, Type::{kind})'
        if kind == 'INT':
            return f'integer({name}, {value.i})'
        if kind == 'FLOAT':
            return f'number({name}, {number(value.f)})'
        if kind == 'STRING':
            return f'text({name}, {quoted(value.s.decode())})'
        if kind == 'INTS':
            return f'integers({name}, {self.list("int64_t", [str(each) for each in value.ints])})'
        if kind == 'STRINGS':
            return f'texts({name}, {self.list("StringRef", [quoted(each.decode()) for each in value.strings])})'
        raise ValueError(f'{name}: a default of kind {kind}')

    def entry(self, schema):
        head = f'{quoted(schema.name)}, {schema.since_version}'
        if schema.deprecated:
            return f'{{{head}}}'
        lists = [self.list('Parameter', [self.parameter(schema, each) for each in schema.inputs]),
                 self.list('Parameter', [self.parameter(schema, each) for each in schema.outputs]),
                 self.list('Attribute', [self.attribute(each) for _, each in sorted(schema.attributes.items())])]
        return f'{{{", ".join([head, *lists, *["true"] * takes_any_attribute(schema)])}}}'


def table():
    writer = Writer()
    entries = [writer.entry(schema) for schema in schemas()]
    first, last = opsets()[0], opsets()[-1]
    text = HEADER.format(version=onnx.__version__, first=first, last=last)
    for value, name in writer.sets.items():
        text += f'constexpr TypeSet {name} = 0x{value:x};\n'
    for (kind, items), name in writer.lists.items():
        text += f'constexpr {kind} {name}[] = {{{items}}};\n'
    text += 'constexpr Schema table[] = {\n' + ''.join(f'{entry},\n' for entry in entries) + '};\n'
    return text


def main():
    if sys.argv[1:] not in ([], ['--check']):
        sys.exit(__doc__)
    text = table()
    if not sys.argv[1:]:
        with open(TABLE, 'w') as file:
            file.write(text)
        return 0
    with open(TABLE) as file:
        same = file.read() == text
    print('SchemaTable.inc is ' + ('as it would be written' if same else 'not what make_schemas.py writes'))
    return 0 if same else 1


if __name__ == '__main__':
    sys.exit(main())
