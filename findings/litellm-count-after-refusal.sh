#!/usr/bin/env bash
# litellm 1.110.2 (PyPI, Python), acount_tokens of an anthropic/ model.
# Guess: a count that the API refuses, for a wrong key or a fault of its own, raises as any other call does, or says so in
# its answer, which has the members error, error_message and status_code.
# Seen: the API is asked once, and its refusal is answered by a count of LiteLLM's own tokenizer, as if nothing had been:
# error is False, and nothing but tokenizer_type tells it apart.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check litellm==1.110.2
cat >run.py <<'PY'
import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import litellm

asked = []


class Api(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers.get('content-length', 0)))
        asked.append(self.path)
        status, body = self.server.answer
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header('content-type', 'application/json')
        self.send_header('content-length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


api = HTTPServer(('127.0.0.1', 0), Api)
threading.Thread(target=api.serve_forever, daemon=True).start()


async def count(status, body):
    api.answer = (status, body)
    asked.clear()
    told = await litellm.acount_tokens(
        model='anthropic/claude-opus-4-8',
        messages=[{'role': 'user', 'content': 'Good morning'}],
        api_base=f'http://127.0.0.1:{api.server_port}',
        api_key='key',
    )
    return f'asked {len(asked)}, by the API {told.total_tokens == 777}, {told.tokenizer_type}, error {told.error}'


refused = {'type': 'error', 'error': {'type': 'authentication_error', 'message': 'invalid x-api-key'}}
print('200:', asyncio.run(count(200, {'input_tokens': 777})))
print('401:', asyncio.run(count(401, refused)))
print('500:', asyncio.run(count(500, {'type': 'error', 'error': {'type': 'api_error', 'message': 'fault'}})))
PY
env/bin/python run.py >seen 2>/dev/null
cat seen
diff - seen <<'SEEN'
200: asked 1, by the API True, anthropic_api, error False
401: asked 1, by the API False, local_tokenizer, error False
500: asked 1, by the API False, local_tokenizer, error False
SEEN
