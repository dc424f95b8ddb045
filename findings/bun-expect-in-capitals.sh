#!/usr/bin/env bash
# bun 1.4.5 (npm): `Bun.serve` and the header Expect.
# Guess: `Expect: 100-Continue`, as the JDK's HttpClient writes it with `expectContinue(true)`, is answered as
# `100-continue` is: its value is the same in any case (RFC 9110, 10.1.1).
# Seen: only small letters are answered with 100 before the body is read. Here the body comes along, and nobody waits; a client
# that sends it once it is told to, as the JDK's is, waits until its time is out.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >run.js <<'JS'
import { connect } from 'node:net'

const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: async (request) => new Response(await request.text()) })
const first = (value) =>
  new Promise((resolve) => {
    const socket = connect(server.port, '127.0.0.1', () => {
      socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: ${value}\r\n\r\nhi`)
    })
    socket.once('data', (bytes) => {
      socket.destroy()
      resolve(bytes.toString().split('\r\n')[0])
    })
  })
for (const value of ['100-continue', '100-Continue']) console.log(`${value}: ${await first(value)}`)
server.stop(true)
JS
npx -y bun@1.4.5 run.js >seen
cat seen
diff - seen <<'SEEN'
100-continue: HTTP/1.1 100 Continue
100-Continue: HTTP/1.1 200 OK
SEEN
