// Alerts: whom the configuration has told of trouble, how sending to them goes, and a test.

import { useState } from 'preact/hooks'
import type { AlertReceiver, AlertTest } from '../../../admin-api/schema.ts'
import { call } from '../lib/api.ts'
import { count, timeOf } from '../lib/format.ts'
import { useResource } from '../lib/resource.ts'
import { Badge, Button, Card, Empty, Loaded, When } from '../ui/parts.tsx'
import { Table } from '../ui/rows.tsx'

/** What a test has come to. */
type Test = AlertTest | Error | 'under way'

export const Alerts = () => {
  const receivers = useResource((signal) => call('alerts.list', undefined, signal), [])
  const [tests, setTests] = useState<Record<string, Test>>({})
  const test = (receiver: string): void => {
    const tell = (said: Test): void => setTests((before) => ({ ...before, [receiver]: said }))
    tell('under way')
    call('alerts.test', { receiver }).then(
      ({ items }) => tell(items[0] ?? new Error('it is not in the configuration any more')),
      (error: Error) => tell(error),
    )
  }
  return (
    <Card title="Alerts" flush>
      <Loaded of={receivers} lines={3}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="Nobody is told of trouble">
              <p>
                Write <code>alerts</code> in <code>sluice.yaml</code> and reload it: a webhook, Slack, Discord or e-mail
                is told of quotas that run out, keys that expire, accounts that do not answer and a database in trouble.
              </p>
            </Empty>
          ) : (
            <Table columns={['Receiver', 'State', ['Told of', 'opt-1'], ['Waiting', 'num opt-2']]} actions>
              {items.map((receiver) => (
                <tr key={receiver.name}>
                  <th scope="row">
                    <b class="name">{receiver.name}</b>
                    <span class="sub whole">
                      {receiver.format ?? receiver.kind} · {receiver.to}
                    </span>
                  </th>
                  <td>
                    <Standing of={receiver} />
                    <Said test={tests[receiver.name]} />
                  </td>
                  <td class="opt-1">{receiver.only?.join(', ') ?? 'everything'}</td>
                  <td class="num opt-2">{count(receiver.waiting)}</td>
                  <td>
                    <span class="row end">
                      <Button
                        size="small"
                        busy={tests[receiver.name] === 'under way'}
                        aria-label={`Test ${receiver.name}`}
                        onClick={() => test(receiver.name)}
                      >
                        Test
                      </Button>
                    </span>
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Loaded>
    </Card>
  )
}

const Standing = ({ of: { failing, sent_at } }: { of: AlertReceiver }) => {
  if (failing !== null)
    return (
      <>
        <Badge tone="warn">failing</Badge>
        <span class="sub whole">
          since {timeOf(failing.since)}: {failing.words}. It is tried again.
        </span>
      </>
    )
  return sent_at === null ? (
    <span class="muted">nothing sent since the start</span>
  ) : (
    <>
      last sent <When at={sent_at} />
    </>
  )
}

const Said = ({ test }: { test: Test | undefined }) => {
  if (test === undefined) return null
  if (test === 'under way') return <span class="sub">Sending a test …</span>
  const words = test instanceof Error ? test.message : test.words
  const ok = !(test instanceof Error) && test.ok
  return (
    <div role="status">
      <Badge tone={ok ? 'good' : 'bad'}>{ok ? 'ok' : 'wrong'}</Badge> <span class="sub whole">{words}</span>
    </div>
  )
}
