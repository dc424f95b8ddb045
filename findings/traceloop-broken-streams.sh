#!/usr/bin/env bash
# opentelemetry-instrumentation-openai 0.62.4 and opentelemetry-instrumentation-anthropic 0.62.4 (PyPI, Python) around openai
# 3.3.0 and anthropic 2.14.0: a stream that ends in an error event, which the client raises to its reader.
# Guess: the span of each is one of an error, with the exception.
# Seen: of a responses stream it is. Of a chat-completions stream the span has the status OK and no exception, as of a whole
# answer; of a messages stream there is no span at all.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check openai==3.3.0 anthropic==2.14.0 \
  opentelemetry-instrumentation-openai==0.62.4 opentelemetry-instrumentation-anthropic==0.62.4 opentelemetry-sdk==1.45.2
cat >run.py <<'PY'
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import anthropic
import openai
from opentelemetry.instrumentation.anthropic import AnthropicInstrumentor
from opentelemetry.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

spans = InMemorySpanExporter()
tracing = TracerProvider()
tracing.add_span_processor(SimpleSpanProcessor(spans))
OpenAIInstrumentor().instrument(tracer_provider=tracing)
AnthropicInstrumentor().instrument(tracer_provider=tracing)
RESPONSE = {'id': 'r', 'object': 'response', 'created_at': 1, 'status': 'in_progress', 'model': 'm', 'output': [], 'parallel_tool_calls': True, 'tool_choice': 'auto', 'tools': []}
MESSAGE = {'id': 'm', 'type': 'message', 'role': 'assistant', 'model': 'm', 'content': [], 'stop_reason': None, 'stop_sequence': None, 'usage': {'input_tokens': 1, 'output_tokens': 1}}
STREAMS = {
    'chat': [
        {'id': 'c', 'object': 'chat.completion.chunk', 'created': 1, 'model': 'm', 'choices': [{'index': 0, 'delta': {'role': 'assistant', 'content': 'hal'}, 'finish_reason': None}]},
        {'error': {'message': 'broke off', 'type': 'server_error', 'code': None, 'param': None}},
    ],
    'responses': [
        {'type': 'response.created', 'sequence_number': 0, 'response': RESPONSE},
        {'type': 'error', 'sequence_number': 1, 'error': {'message': 'broke off', 'type': 'server_error', 'code': 'server_error', 'param': None}},
    ],
    'messages': [
        {'type': 'message_start', 'message': MESSAGE},
        {'type': 'content_block_start', 'index': 0, 'content_block': {'type': 'text', 'text': ''}},
        {'type': 'content_block_delta', 'index': 0, 'delta': {'type': 'text_delta', 'text': 'hal'}},
        {'type': 'error', 'error': {'type': 'api_error', 'message': 'broke off'}},
    ],
}


class Api(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers['content-length']))
        self.send_response(200)
        self.send_header('content-type', 'text/event-stream')
        self.end_headers()
        for event in next(events for wire, events in STREAMS.items() if wire in self.path):
            name = f"event: {event['type']}\n" if 'type' in event else ''
            self.wfile.write(f'{name}data: {json.dumps(event)}\n\n'.encode())

    def log_message(self, *_):
        pass


api = ThreadingHTTPServer(('127.0.0.1', 0), Api)
threading.Thread(target=api.serve_forever, daemon=True).start()
url = f'http://127.0.0.1:{api.server_port}'
one = openai.OpenAI(api_key='k', base_url=url, max_retries=0)
other = anthropic.Anthropic(api_key='k', base_url=url, max_retries=0)
said = [{'role': 'user', 'content': 'x'}]
WAYS = {
    'chat': lambda: one.chat.completions.create(model='m', stream=True, messages=said),
    'responses': lambda: one.responses.create(model='m', stream=True, input='x'),
    'messages': lambda: other.messages.create(model='m', max_tokens=9, stream=True, messages=said),
}
for wire, ask in WAYS.items():
    spans.clear()
    raised = 'nothing'
    try:
        for _ in ask():
            pass
    except (openai.APIError, anthropic.APIError):
        raised = 'an error'
    told = [f'{span.status.status_code.name}, exceptions {sum(event.name == "exception" for event in span.events)}' for span in spans.get_finished_spans() if '.create' not in span.name]
    print(f'{wire}: raised {raised}, spans {told}')
PY
env/bin/python run.py >seen 2>/dev/null
cat seen
diff - seen <<'SEEN'
chat: raised an error, spans ['OK, exceptions 0']
responses: raised an error, spans ['ERROR, exceptions 1']
messages: raised an error, spans []
SEEN
