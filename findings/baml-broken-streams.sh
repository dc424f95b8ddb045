#!/usr/bin/env bash
# baml-py 0.226.3 (PyPI, Python), the providers `openai-responses` and `anthropic`, streaming.
# Guess: a stream that ends with the server's error raises it, by each provider.
# Seen: by `anthropic` it does, with the server's words. By `openai-responses` `response.failed` does where it comes last; an
# `error` event does not, whether alone or behind `response.failed`, which it makes forgotten: what had come by then is given
# as the final answer. In the order `error`, `response.failed` it is raised.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check baml-py==0.226.3 pydantic==2.14.4 typing-extensions==4.16.0
mkdir baml_src
cat >baml_src/main.baml <<'BAML'
generator target {
  output_type "python/pydantic"
  output_dir "../"
  version "0.226.3"
}

client<llm> Responses {
  provider "openai-responses"
  options {
    base_url env.BASE_URL
    api_key "k"
    model "m"
  }
}

client<llm> Messages {
  provider "anthropic"
  options {
    base_url env.BASE_URL
    api_key "k"
    model "m"
    max_tokens 9
  }
}

function Say(asked: string) -> string {
  client Responses
  prompt #"{{ _.role('user') }}{{ asked }}"#
}
BAML
env/bin/baml-cli generate >/dev/null 2>&1
cat >run.py <<'PY'
import json
import os
import signal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

os.environ['BAML_LOG'] = 'off'
part = {'type': 'output_text', 'text': '', 'annotations': []}
item = {'id': 'i', 'type': 'message', 'role': 'assistant', 'status': 'in_progress', 'content': []}
of = {'item_id': 'i', 'output_index': 0, 'content_index': 0}
failure = {'code': 'server_error', 'message': 'It broke.'}


def response(status, error=None):
    return {'id': 'r', 'object': 'response', 'created_at': 1, 'status': status, 'error': error, 'model': 'm', 'output': [], 'usage': None, 'parallel_tool_calls': True, 'tool_choice': 'auto', 'tools': []}


RESPONSES = [
    {'type': 'response.created', 'response': response('in_progress')},
    {'type': 'response.output_item.added', 'output_index': 0, 'item': item},
    {'type': 'response.content_part.added', **of, 'part': part},
    {'type': 'response.output_text.delta', **of, 'delta': 'Half an', 'logprobs': []},
]
message = {'id': 'm', 'type': 'message', 'role': 'assistant', 'model': 'm', 'content': [], 'stop_reason': None, 'stop_sequence': None, 'usage': {'input_tokens': 1, 'output_tokens': 1}}
MESSAGES = [
    {'type': 'message_start', 'message': message},
    {'type': 'content_block_start', 'index': 0, 'content_block': {'type': 'text', 'text': ''}},
    {'type': 'content_block_delta', 'index': 0, 'delta': {'type': 'text_delta', 'text': 'Half an'}},
]
FAILED = {'type': 'response.failed', 'response': response('failed', failure)}
ERROR = {'type': 'error', **failure, 'param': None}
ENDS = {
    'messages error': [{'type': 'error', 'error': {'type': 'api_error', 'message': 'It broke.'}}],
    'failed': [FAILED],
    'error': [ERROR],
    'failed, error': [FAILED, ERROR],
    'error, failed': [ERROR, FAILED],
}


class Api(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_POST(self):
        asked = json.dumps(json.loads(self.rfile.read(int(self.headers['content-length']))))
        end = next(end for name, end in ENDS.items() if f'[{name}]' in asked)
        self.send_response(200)
        self.send_header('content-type', 'text/event-stream')
        self.send_header('transfer-encoding', 'chunked')
        self.end_headers()
        for number, event in enumerate((RESPONSES if 'responses' in self.path else MESSAGES) + end):
            frame = f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': number})}\n\n".encode()
            self.wfile.write(b'%x\r\n%b\r\n' % (len(frame), frame))
        self.wfile.write(b'0\r\n\r\n')

    def log_message(self, *_):
        pass


api = ThreadingHTTPServer(('127.0.0.1', 0), Api)
# A process of its own: the client keeps others of its process from running while it waits.
server = os.fork()
if server == 0:
    api.serve_forever()
os.environ['BASE_URL'] = f'http://127.0.0.1:{api.server_port}'
from baml_client.sync_client import b  # noqa: E402


def asked(client, end):
    try:
        stream = b.with_options(client=client).stream.Say(f'[{end}]')
        for _ in stream:
            pass
        return f'"{stream.get_final_response()}"'
    except Exception as error:  # noqa: BLE001
        return f'{type(error).__name__}, {"It broke." in str(error)}'


print('anthropic, error:', asked('Messages', 'messages error'))
for end in ('failed', 'error', 'failed, error', 'error, failed'):
    print(f'openai-responses, {end}:', asked('Responses', end))
os.kill(server, signal.SIGKILL)
PY
env/bin/python run.py >seen 2>/dev/null
cat seen
diff - seen <<'SEEN'
anthropic, error: BamlClientHttpError, True
openai-responses, failed: BamlClientHttpError, True
openai-responses, error: "Half an"
openai-responses, failed, error: "Half an"
openai-responses, error, failed: BamlClientHttpError, True
SEEN
