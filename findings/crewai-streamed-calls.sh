#!/usr/bin/env bash
# crewai 1.15.30 (PyPI, Python) with openai 2.54.0, `LLM(…, api='responses')`, asked as its agents ask: with tools, and without
# functions that it should run by itself.
# Guess: the calls of an answer are returned, whether it streams or not, so that the agent can run them.
# Seen: of a whole answer they are; with `stream=True` they are read and then left out: what returns is the text beside them,
# or an empty one, which an agent takes for its answer. By chat-completions, streaming, they are returned.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check crewai==1.15.30 openai==2.54.0
cat >run.py <<'PY'
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

os.environ.update(CREWAI_DISABLE_TELEMETRY='true', OTEL_SDK_DISABLED='true', CREWAI_TRACING_ENABLED='false')
from crewai import LLM  # noqa: E402

part = {'type': 'output_text', 'text': 'One moment.', 'annotations': []}
text = {'id': 'i', 'type': 'message', 'role': 'assistant', 'status': 'completed', 'content': [part]}
call = {'id': 'f', 'type': 'function_call', 'status': 'completed', 'call_id': 'c', 'name': 'get_weather', 'arguments': '{"city":"Paris"}'}
usage = {'input_tokens': 7, 'input_tokens_details': {'cached_tokens': 0}, 'output_tokens': 5, 'output_tokens_details': {'reasoning_tokens': 0}, 'total_tokens': 12}


def response(status, output):
    return {'id': 'r', 'object': 'response', 'created_at': 1, 'status': status, 'model': 'm', 'output': output, 'usage': usage, 'parallel_tool_calls': True, 'tool_choice': 'auto', 'tools': []}


def events():
    of = {'item_id': 'i', 'output_index': 0, 'content_index': 0}
    yield {'type': 'response.created', 'response': response('in_progress', [])}
    yield {'type': 'response.output_item.added', 'output_index': 0, 'item': {**text, 'status': 'in_progress', 'content': []}}
    yield {'type': 'response.content_part.added', **of, 'part': {**part, 'text': ''}}
    yield {'type': 'response.output_text.delta', **of, 'delta': 'One moment.', 'logprobs': []}
    yield {'type': 'response.output_text.done', **of, 'text': 'One moment.', 'logprobs': []}
    yield {'type': 'response.content_part.done', **of, 'part': part}
    yield {'type': 'response.output_item.done', 'output_index': 0, 'item': text}
    yield {'type': 'response.output_item.added', 'output_index': 1, 'item': {**call, 'status': 'in_progress', 'arguments': ''}}
    yield {'type': 'response.function_call_arguments.delta', 'item_id': 'f', 'output_index': 1, 'delta': call['arguments']}
    yield {'type': 'response.function_call_arguments.done', 'item_id': 'f', 'output_index': 1, 'name': 'get_weather', 'arguments': call['arguments']}
    yield {'type': 'response.output_item.done', 'output_index': 1, 'item': call}
    yield {'type': 'response.completed', 'response': response('completed', [text, call])}


def chunks():
    def chunk(delta, end=None):
        return {'id': 'r', 'object': 'chat.completion.chunk', 'created': 1, 'model': 'm', 'choices': [{'index': 0, 'delta': delta, 'finish_reason': end}]}

    function = {'name': 'get_weather', 'arguments': call['arguments']}
    yield chunk({'role': 'assistant', 'content': 'One moment.'})
    yield chunk({'tool_calls': [{'index': 0, 'id': 'c', 'type': 'function', 'function': function}]})
    yield chunk({}, 'tool_calls')


class Api(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers['content-length'])))
        self.send_response(200)
        self.send_header('content-type', 'text/event-stream' if asked.get('stream') else 'application/json')
        self.end_headers()
        if not asked.get('stream'):
            self.wfile.write(json.dumps(response('completed', [text, call])).encode())
        elif self.path.endswith('/responses'):
            for number, event in enumerate(events()):
                self.wfile.write(f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': number})}\n\n".encode())
        else:
            for one in chunks():
                self.wfile.write(f'data: {json.dumps(one)}\n\n'.encode())
            self.wfile.write(b'data: [DONE]\n\n')

    def log_message(self, *_):
        pass


api = ThreadingHTTPServer(('127.0.0.1', 0), Api)
threading.Thread(target=api.serve_forever, daemon=True).start()
parameters = {'type': 'object', 'properties': {'city': {'type': 'string'}}, 'required': ['city']}
tool = {'type': 'function', 'function': {'name': 'get_weather', 'description': 'The weather', 'parameters': parameters}}


def asked(**more):
    llm = LLM(model='m', provider='openai', base_url=f'http://127.0.0.1:{api.server_port}/v1', api_key='k', **more)
    given = llm.call('The weather in Paris?', tools=[tool])
    return json.dumps(given) if isinstance(given, str) else f'{len(given)} call'


# What it prints by itself stands between.
with open('seen', 'w') as seen:
    print('responses, whole:', asked(api='responses'), file=seen)
    print('responses, streamed:', asked(api='responses', stream=True), file=seen)
    print('chat-completions, streamed:', asked(stream=True), file=seen)
PY
env/bin/python run.py >/dev/null 2>&1
cat seen
diff - seen <<'SEEN'
responses, whole: 1 call
responses, streamed: "One moment."
chat-completions, streamed: 1 call
SEEN
