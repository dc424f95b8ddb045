#!/usr/bin/env bash
# uvicorn 0.38.0 with starlette 0.50.0 (PyPI, Python), an application with a handler of its own for what it did not expect.
# Guess: an answer of 500 that the handler gives is one as any other: the connection stays open, as HTTP/1.1 has it where
# nothing else is said, and a client may use it again; or the answer says `Connection: close`.
# Seen: the answer of 500 says nothing of the connection, which is closed all the same: a request that a client sends over
# it next is lost. A 500 that is no exception leaves it open.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check uvicorn==0.38.0 starlette==0.50.0 h11==0.16.0
cat >run.py <<'PY'
import http.client
import socket
import threading
import time

import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route


def raised(request):
    raise ValueError('not expected')


def told(request):
    return JSONResponse({'error': 'no'}, status_code=500)


async def handler(request, error):
    return JSONResponse({'error': 'no'}, status_code=500)


app = Starlette(routes=[Route('/raised', raised), Route('/told', told)], exception_handlers={Exception: handler})
listening = socket.socket()
listening.bind(('127.0.0.1', 0))
server = uvicorn.Server(uvicorn.Config(app, http='h11', log_level='critical'))
threading.Thread(target=lambda: server.run(sockets=[listening]), daemon=True).start()
while not server.started:
    time.sleep(0.05)


def twice(path):
    connection = http.client.HTTPConnection(*listening.getsockname())
    connection.auto_open = False
    connection.connect()
    connection.request('GET', path)
    first = connection.getresponse()
    said = first.getheader('connection')
    first.read()
    time.sleep(0.5)
    try:
        connection.request('GET', path)
        second = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        second = 'lost'
    return f'{first.status}, connection: {said}, then {second}'


print('raised:', twice('/raised'))
print('told:', twice('/told'))
server.should_exit = True
PY
env/bin/python run.py | tee seen.txt
diff seen.txt - <<'SEEN'
raised: 500, connection: None, then lost
told: 500, connection: None, then 500
SEEN
