// Which of a process's threads wait for their turn, as Linux tells it.

import { expect, test } from 'bun:test'

const script = `
  import { readdirSync, readFileSync } from 'node:fs'
  const { letItWait } = await import(${JSON.stringify(`${import.meta.dir}/../../src/lib/http-thread.ts`)})
  const waiting = () =>
    readdirSync('/proc/self/task')
      .map((id) => readFileSync('/proc/self/task/' + id + '/stat', 'latin1'))
      // The name stands in brackets; the policy is the forty-first figure of a line.
      .filter((line) => line.slice(line.lastIndexOf(')') + 2).split(' ')[38] === '3')
      .map((line) => line.slice(line.indexOf('(') + 1, line.lastIndexOf(')')))
  const before = [letItWait(), waiting()]
  const server = Bun.serve({ port: 0, fetch: () => new Response('there') })
  const ask = async () => (await fetch(server.url)).text()
  await ask()
  const after = [letItWait(), waiting(), letItWait(), waiting()]
  console.log(JSON.stringify({ before, after, answer: await ask() }))
  server.stop()
`

test.skipIf(process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch))(
  'the thread of calls waits for its turn, and no other does',
  () => {
    const { stdout, stderr } = Bun.spawnSync([process.execPath, '-e', script])
    expect(stderr.toString()).toBe('')
    const one = ['HTTP Client']
    expect(JSON.parse(stdout.toString())).toEqual({ before: [0, []], after: [1, one, 1, one], answer: 'there' })
  },
)
