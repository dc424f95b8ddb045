#!/usr/bin/env bash
# livekit-agents 1.8.9 with its plugins for OpenAI (openai 3.57.0) and Anthropic (anthropic 1.17.0) (PyPI, Python), streaming.
# Guess: a responses answer whose usage has no `cache_write_tokens`, as older models and other servers send it, is read, with
# none of those; and the figures of `message_delta`, which are cumulative, are those of a messages answer.
# Seen: the former fails at its last event, after all its text was given, as a lost connection (a ValidationError behind it).
# Of the latter, input is what `message_start` said, whatever comes after it, and output is both added up: 9 and 1 + 5 where
# the end says 7 and 5. A relay that learns the figures at the end cannot tell them to it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check livekit-agents==1.8.9 livekit-plugins-openai==1.8.9 livekit-plugins-anthropic==1.8.9 openai==3.57.0 anthropic==1.17.0
cat >run.py <<'PY'
import asyncio
import json
import logging
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from livekit.agents import APIConnectOptions, APIConnectionError, llm
from livekit.plugins import anthropic, openai

logging.disable(logging.CRITICAL)


def messages():
    usage = {'input_tokens': 9, 'output_tokens': 1}
    message = {'id': 'm', 'type': 'message', 'role': 'assistant', 'model': 'm', 'content': [], 'stop_reason': None, 'stop_sequence': None, 'usage': usage}
    yield {'type': 'message_start', 'message': message}
    yield {'type': 'content_block_start', 'index': 0, 'content_block': {'type': 'text', 'text': ''}}
    yield {'type': 'content_block_delta', 'index': 0, 'delta': {'type': 'text_delta', 'text': 'hi'}}
    yield {'type': 'content_block_stop', 'index': 0}
    yield {'type': 'message_delta', 'delta': {'stop_reason': 'end_turn', 'stop_sequence': None}, 'usage': {'input_tokens': 7, 'output_tokens': 5}}
    yield {'type': 'message_stop'}


def responses(details):
    def response(status, output, usage):
        return {'id': 'r', 'object': 'response', 'created_at': 1, 'status': status, 'model': 'm', 'output': output, 'usage': usage, 'parallel_tool_calls': True, 'tool_choice': 'auto', 'tools': []}

    part = {'type': 'output_text', 'text': 'hi', 'annotations': []}
    item = {'id': 'i', 'type': 'message', 'role': 'assistant', 'status': 'completed', 'content': [part]}
    of = {'item_id': 'i', 'output_index': 0, 'content_index': 0}
    usage = {'input_tokens': 7, 'input_tokens_details': details, 'output_tokens': 5, 'output_tokens_details': {'reasoning_tokens': 0}, 'total_tokens': 12}
    yield {'type': 'response.created', 'response': response('in_progress', [], None)}
    yield {'type': 'response.output_item.added', 'output_index': 0, 'item': {**item, 'status': 'in_progress', 'content': []}}
    yield {'type': 'response.content_part.added', **of, 'part': {**part, 'text': ''}}
    yield {'type': 'response.output_text.delta', **of, 'delta': 'hi', 'logprobs': []}
    yield {'type': 'response.output_text.done', **of, 'text': 'hi', 'logprobs': []}
    yield {'type': 'response.content_part.done', **of, 'part': part}
    yield {'type': 'response.output_item.done', 'output_index': 0, 'item': item}
    yield {'type': 'response.completed', 'response': response('completed', [item], usage)}


class Api(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers['content-length']))
        self.send_response(200)
        self.send_header('content-type', 'text/event-stream')
        self.end_headers()
        for number, event in enumerate(self.server.events):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': number})}\n\n".encode())

    def log_message(self, *_):
        pass


api = ThreadingHTTPServer(('127.0.0.1', 0), Api)
threading.Thread(target=api.serve_forever, daemon=True).start()
url = f'http://127.0.0.1:{api.server_port}'


async def asked(model, events):
    api.events = list(events)
    context = llm.ChatContext.empty()
    context.add_message(role='user', content='x')
    text, usage = '', None
    try:
        async with model.chat(chat_ctx=context, conn_options=APIConnectOptions(max_retry=0)) as stream:
            async for chunk in stream:
                text += (chunk.delta and chunk.delta.content) or ''
                usage = chunk.usage or usage
        return f'"{text}", input {usage.prompt_tokens}, output {usage.completion_tokens}'
    except APIConnectionError as error:
        return f'"{text}", then {type(error).__name__} for a {type(error.__cause__).__name__}'


def responses_model():
    return openai.responses.LLM(model='m', api_key='k', base_url=url, use_websocket=False)


print('responses, cache_write_tokens 0:', asyncio.run(asked(responses_model(), responses({'cached_tokens': 0, 'cache_write_tokens': 0}))))
print('responses, without:', asyncio.run(asked(responses_model(), responses({'cached_tokens': 0}))))
print('messages:', asyncio.run(asked(anthropic.LLM(model='m', api_key='k', base_url=url), messages())))
PY
env/bin/python run.py >seen 2>/dev/null
cat seen
diff - seen <<'SEEN'
responses, cache_write_tokens 0: "hi", input 7, output 5
responses, without: "hi", then APIConnectionError for a ValidationError
messages: "hi", input 9, output 6
SEEN
