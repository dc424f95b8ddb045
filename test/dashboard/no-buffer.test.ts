// The playground reads answers by the server's own decoders, in a browser, which has no Buffer.

import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WITHOUT_BUFFERS } from '../../src/dashboard/bundle.ts'

const PLAY = join(import.meta.dir, '../../src/dashboard/page/lib/play.ts')

const TEXT = 'word '.repeat(20_000)
const ANSWER = { id: 'resp_1', object: 'response', status: 'completed', model: 'm', error: null }
const ITEM = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text: TEXT, annotations: [] }],
}
const EVENTS = [
  { type: 'response.created', response: { ...ANSWER, status: 'in_progress', output: [] } },
  { type: 'response.output_item.added', output_index: 0, item: { ...ITEM, status: 'in_progress', content: [] } },
  { type: 'response.output_text.delta', output_index: 0, content_index: 0, item_id: 'msg_1', delta: TEXT },
  { type: 'response.output_item.done', output_index: 0, item: ITEM },
  {
    type: 'response.completed',
    response: { ...ANSWER, output: [ITEM], usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 } },
  },
]

const framed = (event: { type: string }): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

const PROMPT = {
  wire: 'responses',
  model: 'm',
  system: '',
  text: 'Hi',
  tool: false,
  size: '',
  maxTokens: 9,
  effort: '',
  turns: [],
}

/** In a process of its own, as what it takes away is of all of one. */
const READS = `
  delete globalThis.Buffer
  globalThis.fetch = async () => new Response(${JSON.stringify(EVENTS.map(framed).join(''))})
  const { play } = await import('./play.js')
  let last
  await play(${JSON.stringify(PROMPT)}, async () => 'sk', new AbortController().signal, (so) => { last = so })
  process.stdout.write(JSON.stringify([last.state, last.error ?? '', last.text.length, last.usage?.output ?? 0]))
`

test('an answer with large events is read whole', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-no-buffer-'))
  try {
    const { success } = await Bun.build({
      ...{ entrypoints: [PLAY], outdir: folder },
      ...{ target: 'browser', plugins: [WITHOUT_BUFFERS] },
    })
    expect(success).toBe(true)
    await Bun.write(join(folder, 'reads.js'), READS)
    const child = Bun.spawn([process.execPath, join(folder, 'reads.js')], { stdout: 'pipe', stderr: 'inherit' })
    expect(JSON.parse(await child.stdout.text())).toEqual(['done', '', TEXT.length, 2])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
