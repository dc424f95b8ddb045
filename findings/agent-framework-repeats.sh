#!/usr/bin/env bash
# agent-framework-core 1.23.0 with agent-framework-openai 1.17.0 and agent-framework-anthropic 1.0.0b261022 (PyPI, Python).
# Guess: the updates of a streamed answer, put together, are its text; and an agent without tools says nothing of them.
# Seen: by `OpenAIChatClient` (responses) the event that ends a text gives all of it once more, so that who shows updates
# shows the answer twice, while the response at the end has it once. `AnthropicClient` sends `tool_choice` without `tools`,
# which its own vendor refuses; by chat-completions and responses it does not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check agent-framework-core==1.23.0 agent-framework-openai==1.17.0 \
  agent-framework-anthropic==1.0.0b261022 openai==3.57.0 anthropic==1.17.0
cat >run.py <<'PY'
import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from agent_framework import Agent
from agent_framework.anthropic import AnthropicClient
from agent_framework.openai import OpenAIChatClient, OpenAIChatCompletionClient
from anthropic import AsyncAnthropic


def responses():
    def response(status, output, usage):
        return {'id': 'r', 'object': 'response', 'created_at': 1, 'status': status, 'model': 'm', 'output': output, 'usage': usage, 'parallel_tool_calls': True, 'tool_choice': 'auto', 'tools': []}

    part = {'type': 'output_text', 'text': 'Hello.', 'annotations': []}
    item = {'id': 'i', 'type': 'message', 'role': 'assistant', 'status': 'completed', 'content': [part]}
    of = {'item_id': 'i', 'output_index': 0, 'content_index': 0}
    usage = {'input_tokens': 7, 'input_tokens_details': {'cached_tokens': 0, 'cache_write_tokens': 0}, 'output_tokens': 5, 'output_tokens_details': {'reasoning_tokens': 0}, 'total_tokens': 12}
    yield {'type': 'response.created', 'response': response('in_progress', [], None)}
    yield {'type': 'response.output_item.added', 'output_index': 0, 'item': {**item, 'status': 'in_progress', 'content': []}}
    yield {'type': 'response.content_part.added', **of, 'part': {**part, 'text': ''}}
    yield {'type': 'response.output_text.delta', **of, 'delta': 'Hel', 'logprobs': []}
    yield {'type': 'response.output_text.delta', **of, 'delta': 'lo.', 'logprobs': []}
    yield {'type': 'response.output_text.done', **of, 'text': 'Hello.', 'logprobs': []}
    yield {'type': 'response.content_part.done', **of, 'part': part}
    yield {'type': 'response.output_item.done', 'output_index': 0, 'item': item}
    yield {'type': 'response.completed', 'response': response('completed', [item], usage)}


def messages():
    message = {'id': 'm', 'type': 'message', 'role': 'assistant', 'model': 'm', 'content': [], 'stop_reason': None, 'stop_sequence': None, 'usage': {'input_tokens': 1, 'output_tokens': 1}}
    yield {'type': 'message_start', 'message': message}
    yield {'type': 'content_block_start', 'index': 0, 'content_block': {'type': 'text', 'text': ''}}
    for text in ('Hel', 'lo.'):
        yield {'type': 'content_block_delta', 'index': 0, 'delta': {'type': 'text_delta', 'text': text}}
    yield {'type': 'content_block_stop', 'index': 0}
    yield {'type': 'message_delta', 'delta': {'stop_reason': 'end_turn', 'stop_sequence': None}, 'usage': {'output_tokens': 2}}
    yield {'type': 'message_stop'}


def chunks():
    for delta, end in (({'role': 'assistant', 'content': 'Hel'}, None), ({'content': 'lo.'}, None), ({}, 'stop')):
        yield {'id': 'r', 'object': 'chat.completion.chunk', 'created': 1, 'model': 'm', 'choices': [{'index': 0, 'delta': delta, 'finish_reason': end}]}


class Api(BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.asked = json.loads(self.rfile.read(int(self.headers['content-length'])))
        self.send_response(200)
        self.send_header('content-type', 'text/event-stream')
        self.end_headers()
        if 'completions' in self.path:
            for one in chunks():
                self.wfile.write(f'data: {json.dumps(one)}\n\n'.encode())
            self.wfile.write(b'data: [DONE]\n\n')
            return
        for number, event in enumerate(responses() if 'responses' in self.path else messages()):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': number})}\n\n".encode())

    def log_message(self, *_):
        pass


api = ThreadingHTTPServer(('127.0.0.1', 0), Api)
threading.Thread(target=api.serve_forever, daemon=True).start()
url = f'http://127.0.0.1:{api.server_port}'


async def asked(client):
    stream = Agent(client).run('x', stream=True)
    shown = ''.join([update.text async for update in stream])
    end = (await stream.get_final_response()).text
    return f'{shown} {end} {"tool_choice" in api.asked}'


async def main():
    print('chat-completions:', await asked(OpenAIChatCompletionClient(model='m', api_key='k', base_url=f'{url}/v1')))
    print('responses:', await asked(OpenAIChatClient(model='m', api_key='k', base_url=f'{url}/v1')))
    print('messages:', await asked(AnthropicClient(model='m', anthropic_client=AsyncAnthropic(api_key='k', base_url=url))))


asyncio.run(main())
PY
env/bin/python run.py >seen 2>/dev/null
cat seen
diff - seen <<'SEEN'
chat-completions: Hello. Hello. False
responses: Hello.Hello. Hello. False
messages: Hello. Hello. True
SEEN
