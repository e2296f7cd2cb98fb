"""Help, versions, installed tools, and the commands of docs/training.md."""
import os
import re
import shutil
import subprocess

from programs import ROOT, Run, data_of, expect, model_of

TRAINING = ['--data=', '--steps=', '--lr=', '--checkpoint=', '--best=', '--resume']
INFERENCE = ['--input=', '--output=']


class Tools:
    def __init__(self, suite):
        self.suite = suite
        with open(os.path.join(ROOT, 'CMakeLists.txt')) as file:
            self.version = re.search(r'project\(dpc VERSION (\S+)', file.read()).group(1)

    def help(self):
        """A program's help is about what it does."""
        for program, own, foreign in ((self.suite.trainer('mlp'), TRAINING, INFERENCE),
                                      (self.suite.compiled('mlp'), INFERENCE, TRAINING)):
            text = Run([program, '--help'], self.suite.folder).done().says(*own, '--init-params=', '--save-params=', '--verify ').out
            for option in foreign:
                expect(option not in text, f'{option} in the help of the other kind of program')

    def help_fits(self):
        """Options that cannot work for a program are not in its help, and are refused by name."""
        images, tokens, infers = self.suite.trainer('mlp'), self.suite.trainer('gpt2'), self.suite.compiled('mlp')
        texts = {program: Run([program, '--help'], self.suite.folder).done().out for program in (images, tokens, infers)}
        for program, there, absent in ((images, '--data=idx:', '--data=tokens:'), (tokens, '--data=tokens:', '--data=idx:')):
            expect(there in texts[program], f'{there} is not in the help')
            expect(absent not in texts[program], f'{absent} is in the help of a program without such an input')
        for option in ('--cuda-graph', '--run-ahead', '--tune', '--profile'):
            for program, text in texts.items():
                expect(option not in text and 'CUDA' not in text, f'{option} is in the help of a program for the CPU')
                self.suite.run(program, f'{option}=on').refused(f'{option}: this program is not for CUDA devices', code=2)
        for option in ('--seed=1', '--lr=1', '--steps=1', '--no-shuffle'):
            self.suite.run(infers, option, '--output=logits=y.npy').refused(f'not {option.split("=")[0]}', code=2)
        # Whatever a program's help shows, it knows.
        for program, text in texts.items():
            for option in sorted(set(re.findall(r'^  (--[a-z-]+)', text, re.M))):
                run = self.suite.run(program, option + '=')
                expect('unknown option' not in run.err or 'unknown option' not in self.suite.run(program, option).err,
                       f'{option} of the help is unknown: {run.err}')

    def foreign_options(self):
        """Options of dpc-compile and of other training programs are answered with where they belong."""
        trains, infers = self.suite.trainer('mlp'), self.suite.compiled('mlp')
        own = set(re.findall(r'--[a-z-]+', Run([trains, '--help'], self.suite.folder).done().out)) | {'--help', '--version', '--tune'}  # programs for CUDA have a --tune too
        text = self.suite.tool('dpc-compile', '--help').done().out
        compilers = set(re.findall(r'^  (--[a-z-]+)', text, re.M))
        expect(len(compilers) > 40 and '--metric' in compilers, f'the help has {sorted(compilers)}')
        for option in sorted(compilers - own | {'--params', '--metric', '--zero'}):
            for program, given in ((trains, option + '=x'), (trains, option), (infers, option + '=x')):
                Run([program, given], self.suite.folder).refused(
                    f'{option} is an option of dpc-compile: the program has to be compiled with it', code=2)
        for option, words in (('--batch-size=8', 'the batch is compiled in: dpc-compile --shape'),
                              ('--log-every=1', 'the file of --log=FILE.jsonl has every step'), ('--learning-rate=1', 'the option is --lr=X')):
            Run([trains, option], self.suite.folder).refused('unknown option ' + option.split('=')[0], words, code=2)

    def misspelt_options(self):
        """An unknown option is answered with the nearest one; each option of the help is found."""
        trains, infers = self.suite.trainer('mlp'), self.suite.compiled('mlp')
        for program in (trains, infers):
            options = sorted(set(re.findall(r'^  (--[a-z-]+)', Run([program, '--help'], self.suite.folder).done().out, re.M)))
            expect('--init-params' in options, f'the help has {options}')
            for option in options:
                for wrong in (option + 'x=1', option[:-1] + option[-2:] + '=1') if len(option) > 4 else ():
                    Run([program, wrong], self.suite.folder).refused(
                        f"unknown option {wrong.split('=')[0]}; did you mean {option}?", code=2)
        for wrong, right in (('--epoch=1', '--epochs'), ('--init-param=x', '--init-params'), ('--Resume', '--resume')):
            Run([trains, wrong], self.suite.folder).refused(f'; did you mean {right}?', code=2)
        Run([trains, '--frobnicate=1'], self.suite.folder).refused('unknown option --frobnicate (--help lists all)', code=2)
        Run([trains, '--no-shuffle=1'], self.suite.folder).refused('--no-shuffle takes no value', code=2)

    def program_options(self):
        """Options of programs and of dpc-run are answered by dpc-compile with where they belong."""
        text = self.suite.tool('dpc-compile', '--help').done().out
        compilers = set(re.findall(r'^  (--[a-z-]+)', text, re.M))
        helps = [self.suite.tool('dpc-run', '--help').done().out]
        helps += [Run([program, '--help'], self.suite.folder).done().out
                  for program in (self.suite.trainer('mlp'), self.suite.compiled('mlp'))]
        with open(os.path.join(ROOT, 'tools', 'dpc-compile', 'ProgramOptions.cpp')) as file:
            listed = set(re.findall(r'"(--[a-z-]+)"', file.read()))
        options = {option for text in helps for option in re.findall(r'^  (--[a-z-]+)', text, re.M)} - compilers
        on_cuda = {'--cuda-graph', '--run-ahead'}
        expect(len(options) > 25 and '--steps' in options, f'the helps have {sorted(options)}')
        expect(listed - on_cuda == options, f'dpc-compile lists {sorted(listed ^ options)} wrongly')
        for option in sorted(options | on_cuda):
            self.suite.tool('dpc-compile', model_of('mlp'), '-o', 'out', option + '=x').refused(
                f"unknown option '{option}=x': the program takes it as it runs: dpc-run ./PROGRAM {option}=x", code=2)
        for option, words in (('--lr=1', '--optimizer=NAME,lr=X'), ('--output=x', '-o OUT'), ('--evaluate', 'dpc-run ./PROGRAM --evaluate')):
            self.suite.tool('dpc-compile', model_of('mlp'), option).refused(words, code=2)

    def versions(self):
        for tool in ('dpc-compile', 'dpc-interp', 'dpc-opt', 'dpc-run'):
            run = self.suite.tool(tool, '--version').done()
            expect(run.out.split()[:2] == [tool, self.version], f'{tool} --version prints {run.out}')
        for program in (self.suite.trainer('mlp'), self.suite.compiled('mlp')):
            self.suite.run(program, '--version').done().says(f'a program of dpc {self.version}\n', 'dpc-compile ',
                                                             'model.onnx')

    def installed(self):
        """The tools work from where they are installed, and link programs with what is installed beside them."""
        build, prefix = os.path.dirname(self.suite.tools), self.suite.path('installed')
        install = ['cmake', '--install', build, '--prefix', prefix]
        Run([*install, '--component', 'tools'], self.suite.folder).done()
        compiler = os.path.join(prefix, 'bin', 'dpc-compile')
        command = [compiler, model_of('mlp'), '-o', 'from-installed', '--shape=x:8x16', '--loss=cross-entropy',
                   '--optimizer=adam,lr=0.01']
        Run(command, self.suite.folder).refused(os.path.join(prefix, 'lib'), 'is missing', code=5)
        Run(install, self.suite.folder).done()
        Run(command, self.suite.folder).done()
        run = [os.path.join(prefix, 'bin', 'dpc-run'), './from-installed', f'--data={data_of("mlp")}', '--steps=2']
        Run(run, self.suite.folder).done().says('step 2/2')
        for tool in ('dpc-opt', 'dpc-interp'):
            Run([os.path.join(prefix, 'bin', tool), '--help'], self.suite.folder).done()
        shutil.rmtree(prefix)

    def page(self):
        """Every command of docs/training.md, from the top to the bottom."""
        with open(os.path.join(ROOT, 'docs', 'training.md')) as file:
            lines = [line[4:] for line in file.read().splitlines() if line.startswith('    ')]
        script = '\n'.join(lines).replace('$PWD/build/release/bin', self.suite.tools)
        expect(len(lines) > 20 and '$bin/dpc-compile' in script, 'the page has no commands')
        done = subprocess.run(['bash', '-euo', 'pipefail', '-x'], input=script, capture_output=True, text=True, timeout=600,
                              cwd=ROOT, env={**os.environ, 'TMPDIR': self.suite.folder})
        expect(done.returncode == 0, f'exit {done.returncode}: {done.stderr[-600:]}')


def checks(suite):
    tests = Tools(suite)
    yield 'help', tests.help
    yield 'daily help fits the program', tests.help_fits
    yield 'daily options of other tools', tests.foreign_options
    yield 'daily options misspelt', tests.misspelt_options
    yield 'daily options of programs', tests.program_options
    yield 'version', tests.versions
    yield 'installed tools', tests.installed
    yield 'docs/training.md', tests.page
