"""The legal forms of a node, made from its operator's schema and what schema_values.py says of its values.

For each operator and each schema version in force: the inputs that may be omitted there and not there (omitted by an
empty name and by leaving them out), results asked for and not, each attribute left out, at its default and at other
values, each element type of each type variable, and other ranks. A form is one Case.
"""
import itertools
import zlib

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, defs, helper, numpy_helper

from merge_tests import shape_deciding

FIRST, LAST = 13, 27
BFLOAT16 = ml_dtypes.bfloat16
# The element types dpc has, as schemas call them.
TYPES = {'float': np.float32, 'double': np.float64, 'float16': np.float16, 'bfloat16': BFLOAT16, 'bool': np.bool_,
         'int8': np.int8, 'int16': np.int16, 'int32': np.int32, 'int64': np.int64, 'uint8': np.uint8,
         'uint16': np.uint16, 'uint32': np.uint32, 'uint64': np.uint64}
# The type a variable has where a form is not about it: the first of these that the schema allows.
USUAL = ('float', 'int64', 'bool')
OMITTED = object()


class V:
    """A value of an attribute, with what else it needs: other inputs (by name), attributes (`attrs`), results
    (`outputs`), types of variables (`types`) or versions (`since`, `until`)."""

    def __init__(self, value, attrs=None, outputs=None, since=0, until=LAST, types=None, **inputs):
        self.value, self.attrs, self.outputs, self.since, self.until = value, attrs or {}, outputs, since, until
        self.inputs, self.types = inputs, types


class Operator:
    """What the schema of `name` does not say: values of its inputs and attributes that fit together.

    inputs    for each formal input, by name or number, its array, or a function (rng, dtype) -> array, or a tuple, the shape of any
              numbers; a list of these for a variadic input
    attrs     for each attribute the values to try, a V where a value needs more
    always    attributes that every form has
    variants  more forms, each a dict of inputs and, under 'attrs', attributes ('since' and 'outputs' as in V)
    fits      (names of the inputs given, attributes, version) -> whether such a node is legal
    types     for a type variable the types to try where fewer make sense than the schema allows
    results   the number of results, where the schema leaves it open; results asked for are otherwise tried in all ways
    tied      for a type variable others that must have its type
    check     (case, results) -> what is wrong, instead of the comparison with the reference; None to compare after all
    """

    def __init__(self, inputs=(), attrs=None, always=None, variants=(), fits=None, types=None, results=None,
                 check=None, tied=None):
        self.inputs, self.attrs, self.always = dict(inputs), attrs or {}, always or {}
        self.variants, self.fits, self.types = variants, fits, types or {}
        self.results, self.check, self.tied = results, check, tied or {}


class Case:
    """One node (or the nodes around it) with the arrays it reads."""

    def __init__(self, op, version, label, nodes, arrays, outputs, check=None, form=None):
        self.op, self.version, self.check, self.form = op, version, check, form
        self.opset = max(version, FIRST)  # the first one at which it is in force
        self.name = f'schemas/{op}-{version}/{label}'
        self.nodes, self.arrays, self.outputs = nodes, arrays, outputs

    def constants(self):
        """The names of the inputs that decide shapes, or what is computed."""
        graph = onnx.GraphProto(node=self.nodes, input=[info(name, array) for name, array in self.arrays.items()])
        return shape_deciding(graph)

    def model(self, results=None, constant=True):
        """The case as a model of its own; what decides shapes is `constant`. Its results have the types that ONNX
        infers; where it infers none, or no shape, those of the arrays `results`."""
        constants = self.constants() if constant else ()
        graph = helper.make_graph(
            self.nodes, 'case', [info(name, array) for name, array in self.arrays.items() if name not in constants],
            [onnx.ValueInfoProto(name=name) for name in self.outputs],
            [numpy_helper.from_array(array, name) for name, array in self.arrays.items() if name in constants])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', self.opset)], ir_version=10)
        model = onnx.shape_inference.infer_shapes(model, data_prop=True)
        for output, array in zip(model.graph.output, results or ()):
            known = output.type.tensor_type
            if not known.elem_type:
                output.CopyFrom(info(output.name, array))
            elif not known.HasField('shape'):
                output.CopyFrom(helper.make_tensor_value_info(output.name, known.elem_type, array.shape))
        return model


def info(name, array):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


def numbers(rng, dtype, shape):
    """Numbers of either sign and no special value; integers small enough that sums of a few do not wrap."""
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind in 'iu':
        return rng.integers(0 if dtype.kind == 'u' else -4, 5, shape).astype(dtype)
    return np.asarray(rng.standard_normal(shape)).astype(dtype)


def make(spec, rng, dtype):
    if callable(spec):
        return np.asarray(spec(rng, dtype)).astype(dtype)
    if isinstance(spec, tuple):
        return numbers(rng, dtype, spec)
    return np.asarray(spec).astype(dtype)


def schemas(names):
    """The schemas of `names` in force at an opset that dpc reads, by (name, version)."""
    found = {}
    for name in names:
        for opset in range(FIRST, LAST + 1):
            try:
                schema = defs.get_schema(name, opset, '')
            except defs.SchemaError:
                continue  # not yet there
            if not schema.deprecated:
                found[name, schema.since_version] = schema
    return found


def tensor_types(texts):
    return [text[7:-1] for text in texts if text.startswith('tensor(') and text[7:-1] in TYPES]


class Forms:
    def __init__(self, schema, operator):
        self.schema, self.operator = schema, operator
        self.variables = {each.type_param_str: tensor_types(each.allowed_type_strs)
                          for each in schema.type_constraints}
        self.optional = [each.name for each in schema.inputs if self.kind(each) == 'optional']
        self.inputs = self.named(operator.inputs)
        self.cases, self.labels = [], set()

    def named(self, inputs):
        """`inputs` with their numbers, where they are not named, made names."""
        return {self.schema.inputs[key].name if isinstance(key, int) else key: spec for key, spec in inputs.items()}

    @staticmethod
    def kind(formal):
        option = defs.OpSchema.FormalParameterOption
        return {option.Single: 'one', option.Optional: 'optional', option.Variadic: 'many'}[formal.option]

    def usual(self, variable):
        allowed = self.operator.types.get(variable, self.variables[variable])
        return next((each for each in USUAL if each in allowed), allowed[0] if allowed else 'float')

    def fits(self, given, attrs):
        return self.operator.fits is None or self.operator.fits(
            given, {**self.operator.always, **attrs}, self.schema.since_version)

    def variables_of(self, names):
        return {each.type_str for each in self.schema.inputs if each.name in names}

    def add(self, label, given, attrs=None, inputs=None, types=None, outputs=None, trailing=False):
        """A node with the optional inputs `given` and those that must be there."""
        schema, operator = self.schema, self.operator
        attrs = {**operator.always, **(attrs or {})}
        attrs = {name: value for name, value in attrs.items()
                 if name in schema.attributes and value is not OMITTED}
        values = {**self.inputs, **(inputs or {})}
        assert label not in self.labels, (schema.name, schema.since_version, label)
        self.labels.add(label)
        rng = np.random.default_rng(zlib.crc32(f'{schema.name}/{label}'.encode()))
        names, arrays, pending = [], {}, []
        for formal in schema.inputs:
            kind = self.kind(formal)
            if kind == 'optional' and formal.name not in given:
                pending.append('')
                continue
            variable = formal.type_str
            element = ((types or {}).get(variable) or self.usual(variable) if variable in self.variables
                       else variable[7:-1])
            specs = values[formal.name] if kind == 'many' else [values[formal.name]]
            names += pending
            pending = []
            for i, spec in enumerate(specs):
                name = formal.name + (str(i) if kind == 'many' else '')
                arrays[name] = make(spec, rng, TYPES[element])
                names.append(name)
        if trailing:
            names += pending
        results = self.result_names(outputs)
        node = helper.make_node(schema.name, names, results, name=schema.name, **attrs)
        self.cases.append(Case(schema.name, schema.since_version, label, [node], arrays,
                               [name for name in results if name], operator.check, self))

    def result_names(self, outputs):
        """`outputs`: flags, a number, or None for those that must be there."""
        formals = self.schema.outputs
        if outputs is None:
            outputs = self.operator.results
        if isinstance(outputs, int):
            return [f'{formals[min(i, len(formals) - 1)].name}_{i}' for i in range(outputs)]
        if outputs is None:
            outputs = [self.kind(each) != 'optional' for each in formals]
            if not any(outputs):
                outputs[0] = True
        names = [each.name + '_out' if flag else '' for each, flag in zip(formals, outputs)]
        while not names[-1]:
            names.pop()
        return names

    def base(self):
        """The optional inputs that even the plainest form has."""
        return next(set(some) for size in range(len(self.optional) + 1)
                    for some in itertools.combinations(self.optional, size) if self.fits(set(some), {}))

    def for_inputs(self):
        base = self.base()
        self.add('plain', base)
        if len(base) < len(self.optional):
            self.add('empty names', base, trailing=True)
        for size in range(len(self.optional) + 1):
            for some in itertools.combinations(self.optional, size):
                if set(some) != base and self.fits(set(some), {}):
                    self.add('with ' + ', '.join(some), set(some))

    def for_outputs(self):
        formals = self.schema.outputs
        optional = [i for i, each in enumerate(formals) if self.kind(each) == 'optional']
        if self.operator.results is not None or not optional:
            return
        for size in range(len(optional) + 1):
            for some in itertools.combinations(optional, size):
                flags = [i in some or i not in optional for i in range(len(formals))]
                if any(flags) and size:
                    self.add('results ' + ', '.join(formals[i].name for i in some), self.base(), outputs=flags)

    def with_value(self, label, value, attrs):
        """A form with `attrs` and what V `value` asks for beside."""
        if not value.since <= self.schema.since_version <= value.until:
            return
        given = {name for name in value.inputs if name in self.optional and value.inputs[name] is not OMITTED}
        given |= {name for name in self.base() if value.inputs.get(name) is not OMITTED}
        inputs = {name: spec for name, spec in value.inputs.items() if spec is not OMITTED}
        self.add(label, given, {**attrs, **value.attrs}, inputs, value.types, value.outputs)

    def for_attributes(self):
        for name, attribute in sorted(self.schema.attributes.items()):
            if attribute.default_value.name and self.fits(self.base(), {}):
                self.add(f'{name} by default', self.base(), {name: helper.get_attribute_value(attribute.default_value)})
            for i, value in enumerate(self.operator.attrs.get(name, ())):
                value = value if isinstance(value, V) else V(value)
                text = str(value.value).split('\n')[0][:40]
                self.with_value(f'{name} {i} {text}', value, {name: value.value})

    def for_variants(self):
        for i, variant in enumerate(self.operator.variants):
            self.with_value(f'variant {i}', V(None, **self.named(variant)), {})

    def for_types(self):
        optional = any(self.kind(each) == 'optional' for each in self.schema.outputs)
        all_results = [True] * len(self.schema.outputs) if optional and self.operator.results is None else None
        for variable in sorted(self.variables):
            users = [each for each in self.schema.inputs if each.type_str == variable]
            if not users:
                continue
            given = self.base()
            if all(self.kind(each) == 'optional' for each in users):
                more = {each.name for each in users} - given
                given = next((given | set(some) for size in range(1, len(self.optional) + 1)
                              for some in itertools.combinations(self.optional, size)
                              if set(some) & more and self.fits(given | set(some), {})), None)
                if given is None:
                    continue
            for element in self.operator.types.get(variable, self.variables[variable]):
                if element in self.variables[variable]:
                    tied = dict.fromkeys(self.operator.tied.get(variable, ()), element)
                    types = {variable: element, **tied}
                    self.add(f'{variable} {element}', given, types=types)
                    if all_results:
                        self.add(f'{variable} {element}, all results', given, types=types, outputs=all_results)

    def all(self):
        self.for_inputs()
        self.for_outputs()
        self.for_attributes()
        self.for_variants()
        self.for_types()
        return self.cases
