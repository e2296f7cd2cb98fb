"""Gate `page`: pages of --report=FILE.html."""
import json
import os
import re

import models
from parsed import Page, number
from tools import MODELS, ROOT, expect, test

MLP = os.path.join(MODELS, 'mlp', 'model.onnx')
GPT = os.path.join(MODELS, 'gpt2', 'model.onnx')
TRAIN = ['--loss=cross-entropy', '--optimizer=adam,lr=0.01']
MLP_TRAIN = [MLP, *TRAIN, '--shape=x:128x16']
H100 = f'--topology={os.path.join(ROOT, "topologies", "h100-roce.json")}'


def reports(tools, *flags):
    """The page of a program, and the sections and the step in its JSON."""
    html, plan = tools.path('page.html'), tools.path('plan.json')
    for file in (html, plan):
        tools.good('dpc-compile', *flags, '-o', 'out', '--stop-after=exec', f'--report={file}')
    with open(plan) as file:
        report = json.load(file)
    return Page(html), report['sections'], report.get('step')


def close(a, b, share=0.01):
    return abs(a - b) <= share * max(abs(a), abs(b)) + 1e-12


def shows_its_program(*flags):
    def check(tools):
        page, sections, step = reports(tools, *flags)
        # The numbers of the page are those of the play.
        expect(close(number(page.cards()['One step']), step['seconds']), f'{page.cards()} and {step["seconds"]} s')
        lanes = page.lanes()
        expect(len(lanes) == len(step['timelines']), f'{list(lanes)} of {len(step["timelines"])} timelines')
        for timeline, (name, bars) in zip(step['timelines'], lanes.items()):
            expect(name.split()[:2] == ['rank', str(timeline['ranks'][0])], f'{name} for {timeline["ranks"]}')
            computed = sum(width for look, _, width in bars if look[0] == 'k') * step['seconds']
            waited = sum(width for look, _, width in bars if look[0] == 'w') * step['seconds']
            planned = sum(timeline['exposed_s'].values()) + timeline['waited_for_ranks_s'] + timeline['waited_for_stages_s']
            # Bars are at least one of 10,000 parts wide, and those that were joined cover their gaps.
            expect(close(computed, timeline['compute_s'], 0.05), f'{name} computes {computed} s of {timeline["compute_s"]}')
            expect(close(waited, planned, 0.05), f'{name} waits {waited} s of {planned}')
            moving = sorted((begin, begin + width) for look, begin, width in bars if look[0] == 'c')
            if '--target=cuda' in flags:  # one operation after another, up to the least width of a bar
                expect(all(end - begin <= 1.1e-4 for (_, end), (begin, _) in zip(moving, moving[1:])), f'{name} moves {moving}')
        sent = sum(timeline['sent_bytes'] * len(timeline['ranks']) for timeline in step['timelines'])
        if sent:
            through = sum(number(row['all ranks send']) for row in page.rows('Bytes that ranks send'))
            expect(close(through, sent), f'{through} bytes through all levels, {sent} sent')
            most = max(timeline['sent_bytes'] for timeline in step['timelines'])
            expect(close(number(page.cards()['A rank sends']), most), f'{page.cards()} and {most}')
            operations = {(name, group) for timeline in step['timelines']
                          for name, group in ((each['name'], each['group']) for each in timeline['operations'])}
            rows = page.rows('Collectives and messages')
            expect({(row['operation'], row['over']) for row in rows} == operations, f'{rows} for {operations}')
        # All of --explain is there.
        details = page.ids['details'].text()
        titles = [title.text() for title in page.ids['details'].all('h3')]
        shown = [section for section in sections if section['lines'] or section['rows']]
        expect(titles == [section['title'][0].upper() + section['title'][1:] for section in shown], f'{titles}')
        for section in shown:
            missing = [text for text in section['lines'] + [cell for row in section['rows'] for cell in row] if text not in details]
            expect(not missing, f'{section["title"]}: {missing[:3]} are missing')
        # What the memory holds is what the plan has, up to gaps.
        plan, held = re.search(r' needs ([\d.]+ \w+); at the peak, ([\d.]+ \w+) of them', page.ids['memory'].text()).groups()
        expect(0.85 * number(plan) <= number(held) <= 1.005 * number(plan), f'{held} held of {plan}')
        expect(number(plan) == number(page.cards()['Memory of a rank']), f'{plan} and {page.cards()}')
    return check


PROGRAMS = {
    'one rank': [*MLP_TRAIN, '--mesh=data=1'],
    'data parallel with divided updates': [*MLP_TRAIN, '--mesh=data=2', '--zero=2'],
    'gathered parameters': [*MLP_TRAIN, '--mesh=data=2', '--zero=3', '--microbatches=4'],
    'two axes': [GPT, *TRAIN, '--mesh=data=2,model=2'],
    'a slow rank': [*MLP_TRAIN, '--mesh=data=4', '--slow=1:2'],
    'a pipeline': [GPT, *TRAIN, '--mesh=pipe=2,data=2', '--microbatches=4'],
    'many hosts': [*MLP_TRAIN, '--mesh=data=16,model=2', '--target=cuda', H100],
}
for title, program in PROGRAMS.items():
    function = shows_its_program(*program)
    function.__name__ = f'of {title}'
    test('page')(function)


@test('page')
def levels_have_the_bytes_of_their_groups(tools):
    page, _, _ = reports(tools, *MLP_TRAIN, '--mesh=data=16,model=2', '--target=cuda', H100, '--zero=0')
    by_level = {row['level']: row['for'] for row in page.rows('Bytes that ranks send')}
    inside, network = by_level.values()
    expect('gradients' in network and 'gradients' in inside, f'{by_level}')
    places = {row['axis']: row['where it lies'] for row in page.rows('Mesh')}
    expect('2 devices in' in places['model'] and 'units in' in places['data'], f'{places}')


@test('page')
def largest_tensors_are_there(tools):
    page, _, _ = reports(tools, *MLP_TRAIN, '--mesh=data=1')
    rows = page.rows('The largest tensors')
    sizes = [number(row['bytes']) for row in rows]
    expect(sizes == sorted(sizes, reverse=True), f'{sizes}')
    expect({'node_relu', 'fc2.weight', 'x'} <= {row['tensor or node'] for row in rows}, f'{rows}')


@test('page')
def equal_programs_have_equal_pages(tools):
    sources = []
    for name in ('a.html', 'b.html'):
        tools.good('dpc-compile', GPT, *TRAIN, '--mesh=pipe=2,data=2', '--microbatches=2', '-o', 'out', '--stop-after=exec',
                   f'--report={tools.path(name)}')
        with open(tools.path(name)) as file:
            sources.append(file.read())
    expect(sources[0] == sources[1], 'two pages of one program differ')
    # The command has the path of the model as it was given. Nothing else names a folder.
    expect(sources[0].count(GPT) == 1, 'the page has no command')
    rest = sources[0].replace(GPT, '')
    expect(tools.folder not in rest and ROOT not in rest, 'the page names a folder of this machine')


@test('page')
def sixteen_stages_fit(tools):
    model = models.chain(tools.path('chain.onnx'), 32)
    page, _, step = reports(tools, model, *TRAIN, '--mesh=pipe=16,data=2', '--microbatches=32', '--schedule=zero-bubble')
    expect(len(page.source.encode()) <= 2 << 20, f'{len(page.source)} characters')
    expect(len(page.lanes()) == len(step['timelines']) == 16, f'{list(page.lanes())}')
    before, after = (int(n) for n in re.search(r'(\d+) events are (\d+) bars', page.ids['timeline'].text()).groups())
    drawn = sum(len(bars) for bars in page.lanes().values())
    expect(before > after == drawn and drawn <= 5000, f'{before} events are {after} bars, and {drawn} are drawn')


@test('page')
def names_are_text(tools):
    model = models.chain(tools.path('chain.onnx'), 3, name='<script>alert({})</script>"\'&')
    page, _, _ = reports(tools, model, *TRAIN, '--mesh=model=2')  # parsed strictly: one script, no handlers
    text = page.root.text()
    expect('<script>alert(1)</script>"\'&' in text, 'the name of the node is not on the page')
    expect('<script>alert' not in page.source, 'the name of the node is an element')


@test('page')
def inference_has_no_timeline(tools):
    page, sections, step = reports(tools, MLP, '--shape=x:24x16')
    expect(step is None and not {'timeline', 'memory', 'traffic', 'calls'} & set(page.ids), f'{list(page.ids)}')
    expect({'machine', 'details'} <= set(page.ids), f'{list(page.ids)}')
    expect('An inference program' in page.root.text() and len(page.ids['details'].all('h3')) >= 3, 'too little is on the page')


@test('page')
def bad_requests_have_one_line(tools):
    compile = ['dpc-compile', *MLP_TRAIN, '-o', 'out', '--stop-after=exec']
    for name in ('r.txt', 'r', 'html'):
        tools.refused(2, f'--report={name}: the name of a report ends with .html, .json or .trace.json', *compile,
                      f'--report={name}')
    tools.refused(2, '--report needs the level exec', *compile[:-1], '--report=r.html', '--stop-after=placed')
    tools.refused(5, '/nowhere/r.html: No such file', *compile, '--report=/nowhere/r.html')
    os.symlink('/dev/full', tools.path('full.html'))
    tools.refused(5, 'No space left', *compile, f'--report={tools.path("full.html")}')
    tools.refused(1, '-o and --report both write', *compile[:-3], '-o', 'r.html', '--report=r.html')
    tools.refused(5, '/nowhere/out', *compile[:-3], '-o', '/nowhere/out', '--report=r.html')  # no page is left
