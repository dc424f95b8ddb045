// Requests that are no HTTP, or nearly.

import type { Chance } from './chance.ts'

const VALID = '{"model":"vendorB-5.5","messages":[{"role":"user","content":"hi"}]}'

export const malformedHttp = (key: string, chance: Chance): string => {
  const path = chance.pick(['/v1/chat/completions', '/v1/messages', '/v1/models', '/dashboard', '/admin/api/keys'])
  const head = (line: string, ...lines: string[]): string =>
    `${[line, 'Host: x', `Authorization: Bearer ${key}`, ...lines].join('\r\n')}\r\n\r\n`
  const post = `POST ${path} HTTP/1.1`
  return chance.pick([
    () => chance.text(),
    () => `${chance.text()}\r\n\r\n`,
    () => head(`${chance.text()} ${path} HTTP/1.1`),
    () => head(`GET ${chance.text()} HTTP/1.1`),
    () => head(`GET ${path} HTTP/${chance.text()}`),
    () => head(`GET http://elsewhere${path} HTTP/1.1`),
    () => head(`GET ${path}?${'%'.repeat(chance.below(5_000))} HTTP/1.1`),
    () => `GET ${path} HTTP/1.1\r\n\r\n`,
    () => `GET ${path} HTTP/1.1\nHost: x\n\n`,
    () => head(`GET ${path} HTTP/1.1`, `X: ${'x'.repeat(chance.below(40_000))}`),
    () => head(`GET ${path} HTTP/1.1`, ...Array.from({ length: chance.below(300) }, (_, at) => `X${at}: 1`)),
    () => head(`GET ${path} HTTP/1.1`, `${chance.text()}: ${chance.text()}`),
    () =>
      head(post, `Content-Length: ${chance.pick(['-1', '1e3', '0x10', '99999999999999999999', '', '5, 5'])}`) + VALID,
    () => head(post, 'Content-Length: 5', 'Content-Length: 6') + VALID,
    () => head(post, 'Content-Length: 5', 'Transfer-Encoding: chunked') + VALID,
    () => head(post, 'Transfer-Encoding: chunked, gzip') + VALID,
    () =>
      `${head(post, 'Transfer-Encoding: chunked')}${chance.pick(['x', '-1', 'fffffffffffffffff', '5;a=b'])}\r\n${VALID}\r\n`,
    () => `${head(post, 'Transfer-Encoding: chunked')}${VALID.length.toString(16)}\r\n${VALID}XX0\r\n\r\n`,
    () => head(post, `Content-Length: ${VALID.length + 10}`) + VALID,
    () => (head(post, `Content-Length: ${VALID.length}`) + VALID).repeat(1 + chance.below(5)),
    () => head(post, 'Expect: 100-continue', `Content-Length: ${VALID.length}`) + VALID,
    () => head(`GET ${path} HTTP/1.1`, 'Upgrade: websocket', 'Connection: Upgrade'),
  ])()
}
