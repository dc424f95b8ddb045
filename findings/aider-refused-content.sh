#!/usr/bin/env bash
# aider-chat 0.86.2 (PyPI, Python 3.12 or older), by a chat-completions server that refuses the content of a request: 400, code
# content_policy_violation.
# Guess: the refusal is shown and the same message not sent again: it is a 400, and litellm, which aider asks by, has a class of
# its own for it (ContentPolicyViolationError).
# Seen: it is shown and sent again, with twice the wait each time, for a minute. A 400 of another code is sent once.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check aider-chat==0.86.2
mkdir home
cat >run.py <<'PY'
import json
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

asked = []


class Api(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers.get('content-length', 0)))
        asked.append(self.path)
        message = 'Your request was rejected as a result of our safety system.' if self.server.code else 'No such member.'
        error = {'message': message, 'type': 'invalid_request_error', 'param': None, 'code': self.server.code}
        data = json.dumps({'error': error}).encode()
        self.send_response(400)
        self.send_header('content-type', 'application/json')
        self.send_header('content-length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


api = HTTPServer(('127.0.0.1', 0), Api)
threading.Thread(target=api.serve_forever, daemon=True).start()


def ask(code):
    api.code = code
    asked.clear()
    home = os.path.abspath('home')
    env = {
        'PATH': os.environ['PATH'],
        'HOME': home,
        'TERM': 'dumb',
        'LITELLM_LOCAL_MODEL_COST_MAP': 'True',
        'OPENAI_API_BASE': f'http://127.0.0.1:{api.server_port}/v1',
        'OPENAI_API_KEY': 'key',
    }
    plain = ['--yes-always', '--no-git', '--no-check-update', '--no-analytics', '--no-show-model-warnings', '--no-pretty']
    command = [os.path.abspath('env/bin/aider'), '--model', 'openai/some-model', *plain, '-m', 'Good morning']
    subprocess.run(command, cwd=home, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    return 'more than five times' if len(asked) > 5 else f'{len(asked)} time(s)'


print('400, refused content:', ask('content_policy_violation'))
print('400, another:', ask(None))
PY
env/bin/python run.py >seen
cat seen
diff - seen <<'SEEN'
400, refused content: more than five times
400, another: 1 time(s)
SEEN
