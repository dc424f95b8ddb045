#!/usr/bin/env bash
# griptape 1.13.0 (PyPI, Python) with openai 3.57.0, `OpenAiChatPromptDriver`, everything at its defaults.
# Guess: a stream that breaks off is an error to who reads it; what is asked again is asked again by the client below alone:
# 503 three times, 402 once.
# Seen: it asks again on its own, too, also where half the answer has been given: its reader gets the half and then the whole,
# one behind the other, as one answer, while the result has the whole alone. 503 is asked six times (twice the client's
# three), 402 twice.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check griptape==1.13.0 openai==3.57.0
cat >run.py <<'PY'
import json
import logging
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from griptape.drivers.prompt.openai import OpenAiChatPromptDriver
from griptape.events import EventBus, EventListener, TextChunkEvent
from griptape.structures import Agent
from griptape.tokenizers import SimpleTokenizer

logging.disable(logging.CRITICAL)
asked, given = [], []


def chunk(delta, finish=None):
    return {'id': 'c', 'object': 'chat.completion.chunk', 'created': 1, 'model': 'm', 'choices': [{'index': 0, 'delta': delta, 'finish_reason': finish}]}


HALF = [chunk({'role': 'assistant', 'content': 'one'}), {'error': {'message': 'broke off', 'type': 'server_error'}}]
WHOLE = [chunk({'role': 'assistant', 'content': 'one'}), chunk({'content': ' two'}), chunk({}, 'stop'), '[DONE]']


class Api(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers['content-length']))
        asked.append(self.path)
        if self.server.status != 200:
            data = json.dumps({'error': {'message': 'refused', 'type': 'error', 'code': None, 'param': None}}).encode()
            self.send_response(self.server.status)
            self.send_header('content-type', 'application/json')
            self.send_header('retry-after-ms', '1')
            self.send_header('content-length', str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            return
        self.send_response(200)
        self.send_header('content-type', 'text/event-stream')
        self.end_headers()
        for data in HALF if len(asked) == 1 else WHOLE:
            self.wfile.write(f'data: {data if isinstance(data, str) else json.dumps(data)}\n\n'.encode())

    def log_message(self, *_):
        pass


api = ThreadingHTTPServer(('127.0.0.1', 0), Api)
threading.Thread(target=api.serve_forever, daemon=True).start()
EventBus.add_event_listener(EventListener(lambda event: given.append(event.token), event_types=[TextChunkEvent]))


def run(status):
    api.status = status
    asked.clear()
    given.clear()
    tokenizer = SimpleTokenizer(characters_per_token=4, max_input_tokens=10_000, max_output_tokens=1_000)
    driver = OpenAiChatPromptDriver(model='m', api_key='k', base_url=f'http://127.0.0.1:{api.server_port}', stream=True, tokenizer=tokenizer)
    output = Agent(prompt_driver=driver).run('x').output
    told = type(output).__name__ if status != 200 else output.value
    return f'asked {len(asked)}, given "{"".join(given)}", result {told}'


print('broke off once:', run(200))
print('503:', run(503))
print('402:', run(402))
PY
env/bin/python run.py >seen 2>/dev/null
cat seen
diff - seen <<'SEEN'
broke off once: asked 2, given "oneone two", result one two
503: asked 6, given "", result ErrorArtifact
402: asked 2, given "", result ErrorArtifact
SEEN
