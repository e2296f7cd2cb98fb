"""Compiles that are stopped, killed or cannot write."""
import os
import signal

from harness import FLAGS, MODEL, Failed, Job, expect, wait_until


def compiles(tests):
    class Compile:
        def __init__(self, model=MODEL, flags=()):
            self.room = tests.room()
            self.temporary, self.place = f'{self.room}/tmp', f'{self.room}/place'
            os.mkdir(self.temporary)
            os.mkdir(self.place)
            self.command = [os.path.join(tests.tools, 'dpc-compile'), model, *FLAGS, '-o', f'{self.place}/program',
                            f'--params={self.place}/values', *flags]

        def start(self):
            return Job(self.room, self.command, {'TMPDIR': self.temporary})

        def left(self):
            return sorted(os.listdir(self.temporary)), sorted(os.listdir(self.place))

        def reaches(self, job, name):
            """Waits for a file of the compile's: its folder, or the linker's log."""
            def there():
                expect(job.process.poll() is None, 'the compile ended before', name)
                return any(os.path.exists(os.path.join(self.temporary, folder, name))
                           for folder in os.listdir(self.temporary))
            wait_until(there, name, 60)

    def stopped(number, phase):
        for attempt in range(5):  # the linker may be done before the signal comes
            compile_ = Compile()
            for name in ('program', 'values'):
                with open(f'{compile_.place}/{name}', 'w') as file:
                    file.write('before')
            job = compile_.start()
            try:
                compile_.reaches(job, phase)
            except Failed:
                if attempt == 4:
                    raise
                job.end()
                continue
            os.kill(job.pid, number)
            code = job.end()
            if code == 0 and attempt < 4:
                continue
            expect(code == -number, 'exit', code, job.errors())
            break
        expect(compile_.left() == ([], ['program', 'values']), compile_.left())
        for name in ('program', 'values'):
            with open(f'{compile_.place}/{name}') as file:
                expect(file.read() == 'before', name, 'has changed')
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        yield f'compile gets {number.name}', lambda a=number: stopped(a, '.')
        yield f'compile that links gets {number.name}', lambda a=number: stopped(a, 'link.log')

    def killed():
        compile_ = Compile()
        job = compile_.start()
        compile_.reaches(job, '.')
        os.kill(job.pid, signal.SIGKILL)
        job.process.wait()
        expect(compile_.left() != ([], []), 'it left nothing: the test shows nothing')
        job.end()
        running = compile_.start()  # one that lives keeps its own
        compile_.reaches(running, '.')
        again = compile_.start()
        expect(running.end(60) == 0 and again.end(60) == 0, running.errors(), again.errors())
        expect(compile_.left() == ([], ['program', 'values']), compile_.left())
    yield 'compile is killed', killed

    def fails():
        """The values' file is written first, but appears only with the program."""
        compile_ = Compile()
        with open(f'{compile_.place}/values', 'w') as file:
            file.write('before')
        os.mkdir(f'{compile_.place}/program')
        job = compile_.start()
        job.expect_cause(5, (f'{compile_.place}/program', 'not a regular file'), 60)
        with open(f'{compile_.place}/values') as file:
            expect(file.read() == 'before', 'values have changed')
        expect(compile_.left() == ([], ['program', 'values']), compile_.left())
    yield 'compile whose output is a folder', fails
