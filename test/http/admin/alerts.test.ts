// The admin API on alerts: who is told, how that goes, and a test of it.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type Hook, startHook, webhook } from '../../alerts/support.ts'
import { type Desk, refusal, startDesk } from './support.ts'

let desk: Desk
let hook: Hook
beforeEach(async () => {
  hook = startHook()
  desk = await startDesk()
})
afterEach(async () => {
  await desk.stop()
  await hook.stop()
})

const configure = (): void => {
  desk.server.gateway.config.alerts.receivers = [
    webhook('team', `${hook.url}/T0/secret-path`, { format: 'slack', secret: undefined }),
    webhook('pager', hook.url, { only: ['storage'] }),
  ]
}

describe('alerts', () => {
  test('list their receivers, without the rest of an address, which may be a secret', async () => {
    expect(await desk.call('alerts.list', desk.admin)).toEqual({ items: [] })
    configure()
    const { items } = await desk.call('alerts.list', desk.admin)
    const { host } = new URL(hook.url)
    expect(items).toEqual([
      { ...{ name: 'team', kind: 'webhook', format: 'slack', to: host, only: null }, ...RESTING },
      { ...{ name: 'pager', kind: 'webhook', format: 'json', to: host, only: ['storage'] }, ...RESTING },
    ])
  })

  test('are tested one by one or all together, and the audit says by whom', async () => {
    configure()
    hook.behave((index) => new Response(null, { status: index === 1 ? 403 : 200 }))
    expect(await desk.call('alerts.test', desk.admin, { receiver: 'team' })).toEqual({
      items: [{ receiver: 'team', ok: true, words: 'it took the test' }],
    })
    expect(JSON.parse(hook.requests[0]?.text ?? '').text).toContain('This is a test')
    expect(await desk.call('alerts.test', desk.admin, { receiver: 'pager' })).toEqual({
      items: [{ receiver: 'pager', ok: false, words: 'it answers 403' }],
    })
    expect((await desk.call('alerts.test', desk.admin)).items).toHaveLength(2)
    const { items } = await desk.call('audit.list', desk.admin, { limit: 10 })
    const sent = items.filter(({ action }) => action === 'alert.send')
    expect(sent.map(({ target, actor }) => [target, actor.name]).sort()).toEqual([
      ['pager', 'Ada'],
      ['team', 'Ada'],
      ['team', 'Ada'],
    ])
  })

  test('cannot be tested where there is nobody, or nobody of that name', async () => {
    const none = await refusal(await desk.request('alerts.test', desk.admin))
    expect(none).toMatchObject({ status: 400, message: expect.stringContaining('names nobody') })
    configure()
    const unknown = await refusal(await desk.request('alerts.test', desk.admin, { receiver: 'other' }))
    expect(unknown).toMatchObject({ status: 400, message: 'There is no receiver of that name; allowed: team, pager.' })
  })

  test('tell how sending goes', async () => {
    configure()
    hook.behave(500)
    const { alerts } = desk.server.gateway
    await alerts.look([{ type: 'storage', look: () => [{ subject: 'disk', text: 'Full.', facts: {} }] }])
    await hook.until(2)
    // What it was answered is known once its answer is read.
    let items = (await desk.call('alerts.list', desk.admin)).items
    while (items.some(({ failing }) => failing === null)) items = (await desk.call('alerts.list', desk.admin)).items
    expect(items).toMatchObject(
      ['team', 'pager'].map((name) => ({ name, waiting: 1, sent_at: null, failing: { words: 'it answers 500' } })),
    )
  })
})

const RESTING = { waiting: 0, sent_at: null, failing: null }
