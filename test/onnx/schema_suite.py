"""Runs the generated cases of every operator and schema version; see test/onnx/run."""
import collections
import concurrent.futures
import os
import re
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import schema_layouts  # noqa: F401 fills OPERATORS
from merge_tests import add_prefix
from schema_bodies import BODIES, bodies
from schema_expected import BOUNDS, Unknown, expected
from schema_forms import BFLOAT16, TYPES, Forms, info, schemas
from schema_refusals import check_refusals, refusals
from schema_values import OPERATORS

GROUP = 300


def operator_names(tools):
    """The operators that dpc imports."""
    done = subprocess.run([os.path.join(tools, 'dpc-import-onnx'), '--operators'], capture_output=True, text=True,
                          check=True)
    return done.stdout.split()


def generate(found):
    """All cases, in the order of the schemas."""
    cases = []
    for (name, _), schema in found.items():
        cases += bodies(schema) if name in BODIES else Forms(schema, OPERATORS[name]).all()
    return cases


def prepare(case):
    """Fills in what the case must give; '' or why it cannot be told, or is not legal."""
    try:
        case.results, case.oracle = expected(case)
    except Unknown as error:
        return f'nobody says what it gives: {error}'
    model = case.model(case.results)
    case.types = [output.type.tensor_type.elem_type for output in model.graph.output]
    # What was evaluated in FLOAT is rounded as the operator's results are.
    case.results = [array.astype(helper.tensor_dtype_to_np_dtype(kind)) if array.dtype == np.float32 else array
                    for array, kind in zip(case.results, case.types)]
    return illegal(case)


# Operators whose function onnx.checker cannot infer the types of: without a default of its attribute, or of a type
# that the function adds FLOAT to.
ONLY_STRUCTURE = {'MeanVarianceNormalization'}


def illegal(case):
    """'' or why onnx.checker refuses a case. Its inference reads constants of one type only, so it may be asked twice."""
    for constant in (True, False):
        try:
            onnx.checker.check_model(case.model(case.results, constant), full_check=case.op not in ONLY_STRUCTURE)
            return ''
        except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
            problem = f'onnx.checker refuses it: {error}'
    return problem


class Merged:
    """Many cases as one model, and the arrays it reads."""

    def __init__(self, cases):
        self.graph = onnx.GraphProto(name='cases')
        self.graph.input.append(helper.make_tensor_value_info('rows', TensorProto.FLOAT, [1]))
        self.graph.node.append(helper.make_node('Neg', ['rows'], ['negative_rows']))
        self.graph.output.append(helper.make_tensor_value_info('negative_rows', TensorProto.FLOAT, [1]))
        self.arrays = {'rows': np.zeros(1, np.float32)}
        for case in cases:
            self.add(case)
        self.opset = cases[0].opset

    def add(self, case):
        constants = case.constants()
        own = onnx.GraphProto(node=case.nodes)
        for name, array in case.arrays.items():
            if name in constants:
                own.initializer.append(numpy_helper.from_array(array, name))
                continue
            own.input.append(info(name, array))
        for name, kind, array in zip(case.outputs, case.types, case.results):
            own.output.append(helper.make_tensor_value_info(name, kind, array.shape))
        add_prefix(own, case.prefix)
        for value in own.input:
            array = case.arrays[value.name[len(case.prefix):]]
            if array.dtype == BFLOAT16:  # which array files do not hold
                wide = info(value.name + '_wide', array.astype(np.float32))
                own.node.insert(0, helper.make_node('Cast', [wide.name], [value.name], name=value.name + '_cast',
                                                    to=TensorProto.BFLOAT16))
                value.CopyFrom(wide)
                array = array.astype(np.float32)
            self.arrays[value.name] = array
        for field in ('input', 'output', 'initializer', 'node'):
            getattr(self.graph, field).extend(getattr(own, field))

    def save(self, stem):
        onnx.save(helper.make_model(self.graph, opset_imports=[helper.make_opsetid('', self.opset)], ir_version=10),
                  stem + '.onnx')
        np.savez(stem + '.npz', **self.arrays)


def compare(case, results):
    wrong = shapes_differ(case, results)
    own = case.check(case, results) if case.check and not wrong else None
    if wrong or own is not None:
        return wrong or own
    return next(filter(None, map(differ, case.outputs, results, case.results)), '')


def shapes_differ(case, results):
    for name, got, want, kind in zip(case.outputs, results, case.results, case.types):
        dtype = helper.tensor_dtype_to_np_dtype(kind)
        if dtype.kind == 'V' or dtype.name in ('float16', 'bfloat16'):
            dtype = np.dtype(np.float32)  # as the interpreter writes it
        if got.shape != want.shape or got.dtype != dtype:
            return f"'{name}' is {got.dtype}{list(got.shape)}, expected {dtype}{list(want.shape)}"
    return ''


def differ(name, got, want):
    bounds = BOUNDS.get(want.dtype)
    if bounds is None:
        return '' if np.array_equal(got, want) else f"'{name}' is {got.ravel()[:8]}, expected {want.ravel()[:8]}"
    got, want = got.astype(np.float64), want.astype(np.float64)
    if np.allclose(got, want, rtol=bounds[0], atol=bounds[1], equal_nan=True):
        return ''
    return f"'{name}' is {got.ravel()[:8]}, expected {want.ravel()[:8]}"


class Runner:
    def __init__(self, tools, folder):
        self.tools, self.folder, self.count = tools, folder, 0

    def tool(self, name, *arguments):
        try:
            done = subprocess.run([os.path.join(self.tools, name), *arguments], capture_output=True, text=True,
                                  errors='replace', timeout=300, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return 'timed out'
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if 'error' in line] or ['no message']
            return f'{name} exits {done.returncode}: {lines[0][:2000]}'
        return None

    def run(self, cases):
        """Fills in case.wrong: '' or what is wrong."""
        cases = list(cases)
        while cases:
            self.count += 1
            stem = os.path.join(self.folder, f'{os.getpid()}-{self.count}')
            Merged(cases).save(stem)
            problem = self.tool('dpc-compile', stem + '.onnx', '-o', stem + '.mlir', '--stop-after=step')
            if not problem:
                break
            blamed = [case for case in cases if case.prefix in problem]
            if not blamed:
                return self.halve(cases, problem)
            for case in blamed:
                case.wrong = problem.replace(case.prefix, '')
            cases = [case for case in cases if case not in blamed]
        if not cases:
            return None
        files = {name: f'{stem}.{i}.npy' for i, name in enumerate(case.prefix + name for case in cases
                                                                  for name in case.outputs)}
        problem = self.tool('dpc-interp', stem + '.mlir', '--data=' + stem + '.npz', '--log=' + os.devnull,
                            *(f'--output={name}={path}' for name, path in files.items()))
        if problem:
            return self.halve(cases, problem)
        for case in cases:
            case.wrong = compare(case, [np.load(files[case.prefix + name]) for name in case.outputs])
        for path in (stem + '.onnx', stem + '.mlir', stem + '.npz', *files.values()):
            os.remove(path)
        return None

    def halve(self, cases, problem):
        if len(cases) == 1:
            cases[0].wrong = problem
            return
        self.run(cases[:len(cases) // 2])
        self.run(cases[len(cases) // 2:])


def run_group(tools, folder, operators, names):
    """The cases of these names, in a process of its own; {name: (what is wrong, who said what they give)}."""
    cases = [case for case in generate(schemas(operators)) if case.name in set(names)]
    ready = []
    for i, case in enumerate(cases):
        case.prefix = f'c{i:04d}_'
        case.wrong = prepare(case)
        ready += [] if case.wrong else [case]
    Runner(tools, folder).run(ready)
    return {case.name: (case.wrong, getattr(case, 'oracle', '')) for case in cases}


# -- What dpc has not, each a named error that docs/operators.md lists ------------------------------------------------

# (pattern of case names, what dpc says, words of docs/operators.md)
LIMITS = [
    (r'schemas/Constant-\d+/value_string.*', "attribute 'value_strings?' is of a kind that is not supported", 'strings'),
    (r'schemas/Constant-\d+/sparse_value .*', 'is a sparse tensor, which is not supported', 'sparse tensors'),
    (r'schemas/MaxPool-\d+/.*(results Indices|all results)', r'output 1 \(indices\) is not supported', 'MaxPool without its indices'),
    (r'schemas/Resize-\d+/antialias \d 1', 'antialias is not supported', '`antialias`'),
    (r'schemas/Resize-\d+/keep_aspect_ratio_policy \d not_.*', 'keep_aspect_ratio_policy is not supported',
     '`keep_aspect_ratio_policy`'),
    (r'schemas/Resize-\d+/(.* tf_crop_and_resize|extrapolation_value 0 .*)', 'tf_crop_and_resize is not supported',
     '`tf_crop_and_resize`'),
    (r'schemas/Shape-\d+/(variant 0|start \d 9|end \d -9)', 'tensors without elements are not supported',
     'Tensors have elements'),
]


def limit_of(name):
    return next((limit for limit in LIMITS if re.fullmatch(limit[0], name)), None)


# Operands that importing needs to know, although they are data to the schema.
KNOWN = r'known at compile time|depends on data, which is not supported'


def check_limits(tools, folder, cases, root):
    """{name: wrong} for legal cases that dpc must refuse by name, each on its own: those of LIMITS, and cases whose
    shape-deciding operands are data."""
    wrong, files = {}, {}
    with open(os.path.join(root, 'docs', 'operators.md')) as file:
        page = ' '.join(file.read().split())
    for case in cases:
        limit = limit_of(case.name)
        name = case.name if limit else f'{case.name.rsplit("/", 1)[0]}/refused: unknown operands'
        message, words = limit[1:] if limit else (KNOWN, 'Operands that decide shapes')
        wrong[name] = prepare(case) or ('dpc-import-onnx ends before it' if words in page
                                        else f'docs/operators.md does not say "{words}"')
        path = os.path.join(folder, f'limit{len(files)}.onnx')
        onnx.save(case.model(case.results, constant=bool(limit)), path)
        files[path] = name, message
    done = subprocess.run([os.path.join(tools, 'dpc-import-onnx'), '--each', '--no-module', *files], capture_output=True,
                          text=True, errors='replace', timeout=600)
    for line in done.stdout.splitlines():
        path, _, said = line.partition(': ')
        name, message = files.get(path, ('', ''))
        if wrong.get(name, '').startswith('dpc-import-onnx'):
            wrong[name] = '' if re.search(message, said) else f'says "{said[:300]}", not {message}'
    return wrong


# -- Is anything of the schemas left out? ------------------------------------------------------------------------------

def holes(found, cases):
    """What no case shows: an operator's version, an attribute, an optional input or result there or not there, or an
    element type of a variable that inputs have."""
    by_key, missing = collections.defaultdict(list), []
    for case in cases:
        for node in case.nodes:
            if node.op_type == case.op:
                by_key[case.op, case.version].append((case, node))
    for (name, version), schema in found.items():
        own, where = by_key[name, version], f'{name}-{version}'
        if not own:
            missing.append(f'{where}: no case')
        for attribute in schema.attributes:
            if not any(each.name == attribute for _, node in own for each in node.attribute):
                missing.append(f'{where}: attribute {attribute}')
        for formals, values in ((schema.inputs, 'input'), (schema.outputs, 'output')):
            for i, formal in enumerate(formals):
                if Forms.kind(formal) != 'optional':
                    continue
                there = {i < len(getattr(node, values)) and bool(getattr(node, values)[i]) for _, node in own}
                if True not in there or (False not in there and f'{where}: without {formal.name}' not in NEEDED):
                    missing.append(f'{where}: {values} {formal.name} is always {"there" if True in there else "omitted"}')
        if name in BODIES:
            continue
        for constraint in schema.type_constraints:
            restricted = OPERATORS[name].types.get(constraint.type_param_str)
            users = [i for i, each in enumerate(schema.inputs) if each.type_str == constraint.type_param_str]
            seen = {case.arrays[node.input[i]].dtype for case, node in own for i in users
                    if i < len(node.input) and node.input[i]}
            for element in Forms(schema, OPERATORS[name]).variables[constraint.type_param_str] if users else ():
                if np.dtype(TYPES[element]) not in seen and (restricted is None or element in restricted):
                    missing.append(f'{where}: {constraint.type_param_str} of {element}')
    return missing


# Inputs that the schema calls optional and the operator needs.
NEEDED = set()


def run(tools, root, word, verbose, processes=2):
    """Runs what has `word` in its name; returns (number that passed, {name: what is wrong})."""
    names = operator_names(tools)
    found = schemas(names)
    wrong, oracles = {}, collections.Counter()
    table = subprocess.run([os.sys.executable, os.path.join(root, 'frontends', 'onnx', 'Model', 'make_schemas.py'), '--check'],
                           capture_output=True, text=True)
    wrong['schemas/table'] = table.stdout + table.stderr if table.returncode else ''
    cases = generate(found)
    wrong['schemas/complete'] = '; '.join(holes(found, cases))[:2000]
    cases = [case for case in cases if word in case.name]
    limited = [case for case in cases if limit_of(case.name)]
    plain = {}
    with tempfile.TemporaryDirectory() as folder:
        groups = collections.defaultdict(list)
        for case in cases:
            if not limit_of(case.name):
                groups[case.opset].append(case.name)
        jobs = [group[i:i + GROUP] for group in groups.values() for i in range(0, len(group), GROUP)]
        with concurrent.futures.ProcessPoolExecutor(processes) as pool:
            for result in pool.map(run_group, [tools] * len(jobs), [folder] * len(jobs), [names] * len(jobs), jobs):
                for name, (problem, oracle) in result.items():
                    wrong[name] = problem
                    oracles[oracle] += 1
        for case in cases:
            key = case.op, case.version
            if key not in plain and not limit_of(case.name) and not wrong[case.name] and not prepare(case):
                plain[key] = case
        unknown = [case for case in plain.values() if case.constants()]
        wrong.update(check_limits(tools, folder, limited + unknown, root))
        forbidden = [each for each in refusals(found, plain) if word in each.name]
        wrong.update(check_refusals(tools, folder, forbidden, {each.kind for each in forbidden}))
    wrong = {name: problem for name, problem in wrong.items() if word in name or problem and name == 'schemas/complete'}
    failed = {name: problem for name, problem in wrong.items() if problem}
    if verbose:
        for name, problem in wrong.items():
            print('FAIL' if problem else 'ok  ', name)
        print(f'{len(cases)} cases ({len(limited)} limits), {len(forbidden)} refusals;',
              ', '.join(f'{count} by {who}' for who, count in oracles.items()))
    return len(wrong) - len(failed), failed
