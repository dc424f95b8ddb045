#!/usr/bin/env bash
# aisuite 0.2.0 (PyPI, Python), provider `anthropic` with anthropic 2.14.0, whole answers with `tools` and `max_turns`.
# Guess: two tool calls of one answer are both run, as by its provider `openai`.
# Seen: the first alone is kept. It is run, and the turn sent back has that one call and its result; the model never learns
# that its second call was dropped.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check aisuite==0.2.0 anthropic==2.14.0 openai==3.3.0 docstring-parser==0.17.0
cat >run.py <<'PY'
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import aisuite

CITIES = ['Oslo', 'Rome']
ran, results = [], []


def messages(said):
    results.extend(block for turn in said['messages'] if isinstance(turn['content'], list) for block in turn['content'] if block['type'] == 'tool_result')
    calls = [{'type': 'tool_use', 'id': f'call_{city}', 'name': 'weather', 'input': {'city': city}} for city in CITIES]
    return {
        'id': 'm', 'type': 'message', 'role': 'assistant', 'model': 'm', 'stop_sequence': None,
        'content': [{'type': 'text', 'text': 'done'}] if results else calls,
        'stop_reason': 'end_turn' if results else 'tool_use',
        'usage': {'input_tokens': 1, 'output_tokens': 1},
    }


def chat(said):
    results.extend(turn for turn in said['messages'] if turn['role'] == 'tool')
    calls = [{'id': f'call_{city}', 'type': 'function', 'function': {'name': 'weather', 'arguments': json.dumps({'city': city})}} for city in CITIES]
    message = {'role': 'assistant', 'content': 'done'} if results else {'role': 'assistant', 'content': None, 'tool_calls': calls}
    return {'id': 'c', 'object': 'chat.completion', 'created': 1, 'model': 'm', 'choices': [{'index': 0, 'message': message, 'finish_reason': 'stop' if results else 'tool_calls'}]}


class Api(BaseHTTPRequestHandler):
    def do_POST(self):
        said = json.loads(self.rfile.read(int(self.headers['content-length'])))
        data = json.dumps((messages if self.path.endswith('/messages') else chat)(said)).encode()
        self.send_response(200)
        self.send_header('content-type', 'application/json')
        self.send_header('content-length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def weather(city: str) -> str:
    """Tells the weather.

    Args:
        city (str): the city
    """
    ran.append(city)
    return 'sunny'


api = HTTPServer(('127.0.0.1', 0), Api)
threading.Thread(target=api.serve_forever, daemon=True).start()
url = f'http://127.0.0.1:{api.server_port}'
client = aisuite.Client({'anthropic': {'api_key': 'k', 'base_url': url}, 'openai': {'api_key': 'k', 'base_url': url}})
for provider in ('openai', 'anthropic'):
    ran.clear()
    results.clear()
    client.chat.completions.create(model=f'{provider}:m', messages=[{'role': 'user', 'content': 'x'}], tools=[weather], max_turns=3)
    print(f"{provider}: ran {' and '.join(ran)}, results sent {len(results)}")
PY
env/bin/python run.py >seen 2>/dev/null
cat seen
diff - seen <<'SEEN'
openai: ran Oslo and Rome, results sent 2
anthropic: ran Oslo, results sent 1
SEEN
