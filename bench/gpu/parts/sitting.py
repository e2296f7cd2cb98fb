"""A sitting at a machine with a GPU: results that are flushed line by line, items with limits, and what is left for the next one."""
import ctypes
import json
import os
import signal
import subprocess
import threading
import time

LIBC = ctypes.CDLL(None)


class Failed(Exception):
    """Why an item has no result, or not all of them, in a line."""


class Skipped(Exception):
    """What the machine lacks, in a line."""


class Item:
    """A piece of work. `run(limit)` yields results, and has `limit` seconds."""

    def __init__(self, name, run, limit):
        self.name, self.run, self.limit = name, run, limit


class Part:
    """Items about one question. `share` is the part of a sitting's seconds after which the next part begins."""

    def __init__(self, number, title, share, items):
        self.number, self.title, self.share, self.items = number, title, share, items


class Results:
    """The file of results: a line of JSON each. Every line of an item has its name; its last line says how it ended."""

    def __init__(self, path):
        self.lines = read_lines(path)
        self.file = open(path, 'a')
        if self.file.tell() and open(path, 'rb').read()[-1:] != b'\n':
            self.file.write('\n')  # behind a line that was cut

    def add(self, line):
        self.lines.append(line)
        self.file.write(json.dumps(line) + '\n')
        self.file.flush()
        if 'begun' in line or 'ended' in line:  # a machine that stops loses the results of one item at most
            os.fsync(self.file.fileno())

    def has_ended(self, name):
        """An item that was begun twice without an end does not end: it may have stopped the machine."""
        own = [line for line in self.lines if line.get('item') == name]
        return any('ended' in line for line in own) or sum('begun' in line for line in own) - sum('cut' in line for line in own) > 1


def read_lines(path):
    """The lines of a file of results. A line that was cut when its writer was killed is left out."""
    lines = []
    if os.path.exists(path):
        with open(path) as file:
            for line in file:
                try:
                    lines.append(json.loads(line))
                except ValueError:
                    continue
    return lines


def die_with_parent():
    """No process outlives a run-all that is killed, and keeps the GPU busy."""
    LIBC.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    os.setsid()


def kill(process):
    """Kills a process of `die_with_parent` and those that it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def run(command, limit, **others):
    """The output of a command. Fails if it fails, or does not end within `limit` seconds."""
    variables = others.pop('variables', {})
    given = others.pop('input', None)
    name = os.path.basename(command[0])
    try:
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              preexec_fn=die_with_parent, env={**os.environ, **variables}, **others) as process:
            try:
                output, errors = process.communicate(given, timeout=limit)
            except subprocess.TimeoutExpired:
                kill(process)
                raise Failed(f'{name} does not end within {limit:.0f} s') from None
            except BaseException:
                kill(process)
                raise
    except OSError as error:
        raise Failed(f'{name}: {error.strerror}') from None
    if process.returncode:
        last = (errors.strip() or output.strip()).splitlines()[-1:]
        raise Failed(f'{name} exits {process.returncode}: {"".join(last)[-400:]}')
    return output


def json_lines(command, limit, given=''):
    """The lines of JSON that a command prints, each as soon as it is there. Fails like `run`."""
    name, begin, said = os.path.basename(command[0]), time.monotonic(), []
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   preexec_fn=die_with_parent)
    except OSError as error:
        raise Failed(f'{name}: {error.strerror}') from None
    timer = threading.Timer(limit, kill, [process])
    reader = threading.Thread(target=lambda: said.extend(process.stderr), daemon=True)
    try:
        timer.start()
        reader.start()
        process.stdin.write(given)
        process.stdin.close()
        for line in process.stdout:
            if line.startswith('{'):
                yield json.loads(line)
        process.wait()
    finally:
        timer.cancel()
        kill(process)
    reader.join(5)
    if process.returncode and time.monotonic() - begin >= limit:
        raise Failed(f'{name} does not end within {limit:.0f} s')
    if process.returncode:
        raise Failed(f"{name} exits {process.returncode}: {''.join(said[-1:]).strip()[-400:]}")


class Contender:
    """A process that answers RUN n with the seconds of n steps (bench/README.md)."""

    def __init__(self, command, limit, round_seconds, **variables):
        self.deadline = time.monotonic() + limit
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        preexec_fn=die_with_parent, env={**os.environ, **variables})
        self.said = []
        self.reader = threading.Thread(target=lambda: self.said.extend(self.process.stderr), daemon=True)
        self.reader.start()
        self.steps = 1
        try:
            self.ready = self.answer('READY')
            while self.run() * self.steps < round_seconds / 2 and self.steps < 1 << 16:
                self.steps *= 2
        except BaseException:
            self.kill()
            raise

    def answer(self, word):
        timer = threading.Timer(max(0.1, self.deadline - time.monotonic()), kill, [self.process])
        timer.start()
        line = self.process.stdout.readline()
        timer.cancel()
        if not line.startswith(word):
            self.kill()
            self.reader.join(5)
            late = time.monotonic() >= self.deadline
            last = [text.strip() for text in (line, *self.said) if text.strip()][-1:]
            raise Failed('it does not answer in time' if late else ''.join(last)[-400:] or f'exit {self.process.returncode}')
        return json.loads(line[len(word):])

    def run(self):
        """The seconds of a step, of as many as make a round."""
        try:
            self.process.stdin.write(f'RUN {self.steps}\n')
            self.process.stdin.flush()
        except OSError:
            pass  # answer() says why it is gone
        self.last = self.answer('DONE')
        return self.last['s'] / self.steps

    def quit(self):
        """Lets it end by itself, so that it writes its files."""
        try:
            self.process.stdin.write('QUIT\n')
            self.process.stdin.close()
            self.process.wait(max(1, self.deadline - time.monotonic()))
        except (OSError, subprocess.TimeoutExpired):
            raise Failed('it does not end') from None
        finally:
            self.kill()

    def kill(self):
        kill(self.process)


def run_item(results, part, item, limit):
    """Runs an item, and adds its results and how it ended. An item that the end of the sitting has cut has not ended."""
    def add(line):
        results.add({'part': part.number, 'item': item.name, **line})
    begin = time.monotonic()
    add({'begun': round(time.time())})
    count, how = 0, {'ended': 'done'}
    try:
        for line in item.run(limit):
            add(line)
            count += 1
    except Skipped as reason:
        how = {'ended': 'skipped', 'why': str(reason)}
    except Exception as error:  # whatever it is: the next item has its own question
        how = {'ended': 'failed', 'why': str(error) if isinstance(error, Failed) else f'{type(error).__name__}: {error}'}
        if limit < item.limit and time.monotonic() - begin >= limit:
            how = {'cut': how['why']}
    add({**how, 'results': count, 'seconds': round(time.monotonic() - begin, 1)})
    print(f"{how.get('ended', 'cut'):7} {part.number} {item.name} ({time.monotonic() - begin:.1f} s)"
          + (f": {how['why']}" if 'why' in how else ''), flush=True)


def sit(results, parts, seconds, grace):
    """Runs items until `seconds` have passed: those of each part within its share, and then those that are left. The last one may take
    `grace` seconds more. Returns how many are left for the next sitting."""
    begin = time.monotonic()
    waiting = []
    for share_counts in (True, False):
        for part in parts:
            own = time.monotonic()
            for item in part.items:
                if results.has_ended(item.name):
                    continue
                left = seconds - (time.monotonic() - begin)
                of_part = part.share * seconds - (time.monotonic() - own)
                if left <= 0 or (share_counts and of_part <= 0):
                    waiting.append(item)
                    continue
                run_item(results, part, item, min(item.limit, left + grace))
                waiting.append(item)
    return len({item.name for item in waiting if not results.has_ended(item.name)})
