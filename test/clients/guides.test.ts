// The guides say what `connect` writes.

import { expect, test } from 'bun:test'
import { guidePath, guideWith } from '../../scripts/guides.ts'
import { CLIENTS } from '../../src/clients/index.ts'
import { guides } from '../../src/http/docs.ts'

test.each(CLIENTS.map((client) => [client.name, client] as const))(
  'the guide of %s is up to date',
  async (name, client) => {
    const text = await Bun.file(guidePath(client)).text()
    expect(guideWith(client, text)).toBe(text)
    expect(guides().map((guide) => guide.name)).toContain(name)
  },
)
