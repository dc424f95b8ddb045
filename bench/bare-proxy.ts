// The yardstick: the least a reverse proxy on this runtime can do. Method, path, headers and body stream through to the
// provider and the answer streams back; no authentication, no metering, nothing read. Prints its port as its first line.
// `bun bench/bare-proxy.ts BASE [buffered]`: `buffered` reads the request body before it calls, which this runtime
// does faster for small bodies.

const [base = '', manner = 'streamed'] = process.argv.slice(2)

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    const { method, headers, url } = request
    const body = manner === 'buffered' ? await request.arrayBuffer() : request.body
    return fetch(base + url.slice(url.indexOf('/', 8)), { method, headers, body })
  },
})

console.log(server.port)
