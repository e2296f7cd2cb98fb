"""Controls a headless Chromium through a pipe, by the protocol of its developer tools."""
import json
import os
import select
import subprocess
import tempfile
import time

from tools import Failed

LIMIT = 60  # seconds for an answer


class Browser:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()
        flags = ['--headless', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--remote-debugging-pipe',
                 f'--user-data-dir={self.folder.name}']
        if os.geteuid() == 0:
            flags.append('--no-sandbox')  # Chromium has none for root
        # The browser reads commands from descriptor 3, and writes answers to descriptor 4.
        self.process = subprocess.Popen(
            ['bash', '-c', f'exec "$@" 3<&{to_browser} 4>&{from_browser}', 'chromium', 'chromium', *flags, 'about:blank'],
            pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, 'HOME': self.folder.name})
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.session, self.events = b'', 0, None, []
        target = self.call('Target.createTarget', url='about:blank')['targetId']
        self.session = self.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        for domain in ('Page', 'Network', 'Runtime', 'Log'):
            self.call(f'{domain}.enable')

    def receive(self, seconds=LIMIT):
        end = time.monotonic() + seconds
        while b'\0' not in self.buffer:
            ready, _, _ = select.select([self.input], [], [], max(0, end - time.monotonic()))
            read = os.read(self.input, 1 << 16) if ready else b''
            if not read:
                raise Failed('chromium does not answer')
            self.buffer += read
        message, self.buffer = self.buffer.split(b'\0', 1)
        message = json.loads(message)
        if 'method' in message:
            self.events.append(message)
        return message

    def call(self, method, **parameters):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': parameters}
        if self.session:
            message['sessionId'] = self.session
        os.write(self.output, json.dumps(message).encode() + b'\0')
        while True:
            answer = self.receive()
            if answer.get('id') == self.number:
                if 'error' in answer:
                    raise Failed(f'{method}: {answer["error"]["message"]}')
                return answer['result']

    def open(self, path, width=1280, scheme='light', media='', scripts=True):
        """Opens a page, and returns what it does not do well: loads, errors, dialogs."""
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=800, deviceScaleFactor=1, mobile=False)
        self.call('Emulation.setEmulatedMedia', media=media, features=[{'name': 'prefers-color-scheme', 'value': scheme}])
        self.call('Emulation.setScriptExecutionDisabled', value=not scripts)
        self.events.clear()
        self.call('Page.navigate', url='file://' + path)
        while not any(event['method'] == 'Page.loadEventFired' for event in self.events):
            self.receive()
        self.value('1')  # what the page did before has been reported
        found = []
        for event in self.events:
            what, parameters = event['method'], event['params']
            if what == 'Network.requestWillBeSent' and parameters['request']['url'] != 'file://' + path:
                found.append(f'loads {parameters["request"]["url"]}')
            elif what in ('Runtime.exceptionThrown', 'Page.javascriptDialogOpening', 'Log.entryAdded'):
                found.append(f'{what}: {parameters}')
        return found

    def value(self, expression):
        result = self.call('Runtime.evaluate', expression=expression, returnByValue=True)
        if 'exceptionDetails' in result:
            raise Failed(f'{expression}: {result["exceptionDetails"]}')
        return result['result'].get('value')

    def close(self):
        try:
            self.session = None
            self.call('Browser.close')
            self.process.wait(10)
        except (Failed, OSError, subprocess.TimeoutExpired):
            self.process.kill()
        self.folder.cleanup()
