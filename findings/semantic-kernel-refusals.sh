#!/usr/bin/env bash
# semantic-kernel 1.45.0 (PyPI, Python), AnthropicChatCompletion with anthropic 0.125.0, asked for whole answers and for
# streams that the model declines, `stop_reason: "refusal"`.
# Guess: the answer comes with what the model said, and a finish reason, as one that was filtered or as none that is known.
# Seen: a KeyError of the word 'refusal', by itself for a whole answer and within a ServiceResponseException for a stream,
# after its text was given: what the model said is lost, and the usage too. Reasons that it knows are read.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check 'semantic-kernel[anthropic]==1.45.0' anthropic==0.125.0
cat >run.py <<'PY'
import asyncio
import json
import logging
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from anthropic import AsyncAnthropic
from semantic_kernel.connectors.ai.anthropic import AnthropicChatCompletion, AnthropicChatPromptExecutionSettings
from semantic_kernel.contents import ChatHistory

logging.disable(logging.CRITICAL)
SAID = 'I would rather not.'


def message(reason, content, output):
    usage = {'input_tokens': 7, 'output_tokens': output}
    return {'id': 'm', 'type': 'message', 'role': 'assistant', 'model': 'm', 'content': content, 'stop_reason': reason, 'stop_sequence': None, 'usage': usage}


def events(reason):
    yield {'type': 'message_start', 'message': message(None, [], 1)}
    yield {'type': 'content_block_start', 'index': 0, 'content_block': {'type': 'text', 'text': ''}}
    yield {'type': 'content_block_delta', 'index': 0, 'delta': {'type': 'text_delta', 'text': SAID}}
    yield {'type': 'content_block_stop', 'index': 0}
    yield {'type': 'message_delta', 'delta': {'stop_reason': reason, 'stop_sequence': None}, 'usage': {'output_tokens': 5}}
    yield {'type': 'message_stop'}


class Api(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers['content-length'])))
        reason = asked['messages'][0]['content']
        streams = asked.get('stream') is True
        if isinstance(reason, list):
            reason = reason[0]['text']
        if streams:
            body = ''.join(f'event: {event["type"]}\ndata: {json.dumps(event)}\n\n' for event in events(reason)).encode()
        else:
            body = json.dumps(message(reason, [{'type': 'text', 'text': SAID}], 5)).encode()
        self.send_response(200)
        self.send_header('content-type', 'text/event-stream' if streams else 'application/json')
        self.send_header('content-length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def chain(error):
    while error is not None:
        yield f'{type(error).__name__} {error}'[:60]
        error = error.__cause__


async def told(answer):
    try:
        return await answer
    except Exception as error:
        return ' <- '.join(chain(error))


async def main(url):
    settings = AnthropicChatPromptExecutionSettings(max_tokens=100)
    service = AnthropicChatCompletion(ai_model_id='m', api_key='k', async_client=AsyncAnthropic(api_key='k', base_url=url, max_retries=0))

    def said(reason):
        history = ChatHistory()
        history.add_user_message(reason)
        return history

    async def whole(reason):
        answer = await service.get_chat_message_content(said(reason), settings)
        return f'{answer.content} ({answer.finish_reason})'

    async def streamed(reason):
        text = ''
        async for pieces in service.get_streaming_chat_message_contents(said(reason), settings):
            text += ''.join(piece.content or '' for piece in pieces)
        return text

    seen = {(name, reason): await told(ask(reason)) for name, ask in (('whole', whole), ('stream', streamed)) for reason in ('end_turn', 'refusal')}
    for (name, reason), words in seen.items():
        print(f'{name}, {reason}: {words}')
    ends = all(seen[name, 'end_turn'].startswith(SAID) for name in ('whole', 'stream'))
    return ends and all("KeyError 'refusal'" in seen[name, 'refusal'] for name in ('whole', 'stream'))


server = ThreadingHTTPServer(('127.0.0.1', 0), Api)
threading.Thread(target=server.serve_forever, daemon=True).start()
raise SystemExit(0 if asyncio.run(main(f'http://127.0.0.1:{server.server_port}')) else 1)
PY
env/bin/python run.py
