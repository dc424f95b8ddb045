// E-mails by a real SMTP server: secured as the configuration insists, with a login, and refused.

import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import type { Email, Sent } from '../../src/alerts/alert.ts'
import { send } from '../../src/alerts/send.ts'
import { SELF_SIGNED } from '../support/self-signed.ts'
import { alertOf } from './support.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-mail-'))
const certFile = join(folder, 'cert.pem')
writeFileSync(certFile, SELF_SIGNED.cert)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type Mail = { from: string; to: string[]; text: string; secure: boolean; user: string | undefined }
type Post = { port: number; mails: Mail[]; stop(): Promise<void> }

const posts: Post[] = []
afterEach(async () => {
  for (const post of posts.splice(0)) await post.stop()
})

const startPost = async (options: SMTPServerOptions = {}): Promise<Post> => {
  const mails: Mail[] = []
  const server = new SMTPServer({
    ...{ ...SELF_SIGNED, authOptional: true, logger: false, ...options },
    onAuth: ({ username, password }, _, done) =>
      password === 'right' ? done(null, { user: username ?? '' }) : done(new Error('wrong password: top secret')),
    onData: (stream, { envelope, secure, user }, done) => {
      let text = ''
      stream.on('data', (chunk) => {
        text += chunk
      })
      stream.on('end', () => {
        const { mailFrom, rcptTo } = envelope
        mails.push({
          ...{ from: mailFrom ? mailFrom.address : '', to: rcptTo.map(({ address }) => address), text },
          ...{ secure, user: typeof user === 'string' ? user : undefined },
        })
        done()
      })
    },
  })
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const post: Post = {
    port: (server.server.address() as AddressInfo).port,
    mails,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
  posts.push(post)
  return post
}

const emailTo = (port: number, more: Partial<Email> = {}): Email & { name: string; only: undefined } => ({
  ...{ kind: 'email', name: 'email', only: undefined, to: ['ops@example.com', 'boss@example.com'] },
  ...{ from: 'Gateway <sluice@example.com>', host: 'localhost', port, security: 'none', login: undefined },
  ...more,
})

/** By a process that trusts the certificate. */
const mailed = async (email: Email): Promise<Sent> => {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'mail-once.ts'), JSON.stringify(email)], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: certFile },
    stdout: 'pipe',
  })
  return JSON.parse(await new Response(child.stdout).text())
}

const here = (email: Email & { name: string; only: undefined }, patienceMs = 5_000): Promise<Sent> =>
  send(email, alertOf('alr_mail'), { stop: new AbortController().signal, nowMs: 0, patienceMs })

describe('an e-mail', () => {
  const login = { user: 'sluice', password: 'right' }

  test('goes out by STARTTLS with a login, under an id that a mailbox knows it by', async () => {
    const post = await startPost()
    expect(await mailed(emailTo(post.port, { security: 'starttls', login }))).toEqual({ ok: true })
    const [mail] = post.mails
    expect(mail).toMatchObject({
      from: 'sluice@example.com',
      to: ['ops@example.com', 'boss@example.com'],
      secure: true,
    })
    expect(mail?.user).toBe('sluice')
    expect(mail?.text).toContain('Message-ID: <alr_mail@example.com>')
    expect(mail?.text).toContain('X-Sluice-Alert: alr_mail')
    expect(mail?.text).toContain('Something about alr_mail.')
  })

  test('goes out by TLS from the first byte', async () => {
    const post = await startPost({ secure: true })
    expect(await mailed(emailTo(post.port, { security: 'tls', login }))).toEqual({ ok: true })
    expect(post.mails).toHaveLength(1)
  })

  test('goes out in clear only where that is said', async () => {
    const post = await startPost({ hideSTARTTLS: true })
    expect(await here(emailTo(post.port))).toEqual({ ok: true })
    expect(post.mails).toMatchObject([{ secure: false }])
  })

  test.each(['starttls', 'tls'] as const)('is not sent where %s is insisted on and not to be had', async (security) => {
    const post = await startPost({ hideSTARTTLS: true, disabledCommands: ['STARTTLS'] })
    expect(await here(emailTo(post.port, { security, login }))).toMatchObject({ ok: false })
    expect(post.mails).toEqual([])
  })

  test('is not sent to who shows a certificate that is not trusted', async () => {
    const post = await startPost()
    const sent = await here(emailTo(post.port, { security: 'starttls', login }))
    expect(sent).toMatchObject({ ok: false, words: expect.stringContaining('no secured connection') })
    expect(post.mails).toEqual([])
  })

  test('that is refused is told in our words, never in the server’s', async () => {
    const post = await startPost()
    const wrong = { user: 'sluice', password: 'wrong' }
    const sent = await mailed(emailTo(post.port, { security: 'starttls', login: wrong }))
    expect(sent).toEqual({ ok: false, words: 'it refuses the user or the password (535)' })
    const strict = await startPost({ onRcptTo: (_address, _session, done) => done(new Error('no such user: secret')) })
    expect(await here(emailTo(strict.port))).toEqual({
      ok: false,
      words: 'it refuses the address of the sender or of a receiver (550)',
    })
  })

  test('to a server that says nothing ends in time', async () => {
    const sockets: Socket[] = []
    const silent = createServer((socket) => sockets.push(socket))
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as AddressInfo
    expect(await here(emailTo(port), 100)).toEqual({ ok: false, words: 'it did not answer in time' })
    for (const socket of sockets) socket.destroy()
    silent.close()
  })

  test('to where nothing listens says so', async () => {
    const post = await startPost()
    await post.stop()
    posts.pop()
    expect(await here(emailTo(post.port))).toMatchObject({ ok: false, words: expect.stringContaining('reached') })
  })
})
