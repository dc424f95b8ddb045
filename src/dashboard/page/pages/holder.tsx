// For someone who holds a key: what is left on it, and what was spent when and by which model. Nothing else.

import type { Static } from '@sinclair/typebox'
import { useState } from 'preact/hooks'
import type { UsageHistory, UsageRecord } from '../../../http/openapi-schemas.ts'
import { bearer, getJson } from '../lib/api.ts'
import { compact, count, dateTime, khr, scale, usd, usdColumn } from '../lib/format.ts'
import { useAction } from '../lib/resource.ts'
import { BudgetMeter, budgetLeft, budgetNote } from '../ui/budget.tsx'
import { Chart } from '../ui/chart.tsx'
import { Form, Text } from '../ui/fields.tsx'
import { ThemeButton } from '../ui/frame.tsx'
import { Logo } from '../ui/icons.tsx'
import { KeyStatus, QuotaMeter } from '../ui/key-status.tsx'
import { Button, Card, Empty, Notice, Stat, useTitle, When } from '../ui/parts.tsx'
import { Table } from '../ui/rows.tsx'

const DAYS = 90

type Seen = { record: Static<typeof UsageRecord>; history: Static<typeof UsageHistory> }

const look = async (secret: string): Promise<Seen> => {
  const headers = bearer(secret)
  const [record, history] = await Promise.all([
    getJson<Seen['record']>('/v1/usage', headers),
    getJson<Seen['history']>(`/v1/usage/history?days=${DAYS}`, headers),
  ])
  return { record, history }
}

export const Holder = () => {
  const [secret, setSecret] = useState('')
  const [asked, setAsked] = useState<string>()
  const [told, setTold] = useState<Seen>()
  useTitle('Key usage')
  const looking = useAction(async () => {
    if (secret !== asked) setTold(undefined)
    setAsked(secret)
    setTold(await look(secret.trim()))
  })
  // What is told of one key is never shown beside another, however late it comes.
  const seen = secret === asked ? told : undefined
  return (
    <div class="frameless">
      <header>
        <span class="brand">
          <Logo />
          sluice
        </span>
        <ThemeButton />
      </header>
      <main class="stack">
        <div>
          <h1>What is left on a key</h1>
          <p class="muted">Paste your key. It stays in this tab and is sent to this gateway only.</p>
        </div>
        <Card>
          <Form onSubmit={() => void looking.run()} error={secret === asked ? looking.error : undefined}>
            <Text
              label="Key"
              type="password"
              value={secret}
              onChange={setSecret}
              placeholder="sk-sl-…"
              autocomplete="off"
              required
            />
            <div class="row">
              <Button kind="primary" type="submit" busy={looking.busy}>
                {seen ? 'Look again' : 'Show usage'}
              </Button>
              {seen && (
                <Button
                  onClick={() => {
                    setAsked(undefined)
                    setSecret('')
                  }}
                >
                  Forget the key
                </Button>
              )}
            </div>
          </Form>
        </Card>
        {seen && <Shown {...seen} />}
      </main>
    </div>
  )
}

const OWNERS = { key: 'this key', member: 'its owner', team: 'the team', gateway: 'the gateway' } as const

const Shown = ({ record, history }: Seen) => {
  const sum = history.models.reduce((total, { cost_micro_usd }) => total + cost_micro_usd, 0)
  const money = usdColumn(history.models.map(({ cost_micro_usd }) => cost_micro_usd))
  return (
    <>
      <section class="card" aria-label="Quota">
        <div class="card-head">
          <h2>{record.label}</h2>
          <KeyStatus status={record.status} />
        </div>
        <dl class="stats">
          <Stat label="Tokens left" value={compact(record.tokens_remaining)} note={count(record.tokens_remaining)} />
          <Stat label="Used" value={compact(record.tokens_used)} note={<QuotaMeter of={record} />} />
          <Stat label="Quota" value={compact(record.tokens_total)} note={`${count(record.tokens_total)} tokens`} />
          {history.key.renews && (
            <Stat
              label={`Renews every ${history.key.renews.every}`}
              value={<When at={history.key.renews.at} />}
              note={dateTime(history.key.renews.at)}
            />
          )}
          {history.key.budgets.map((budget) => (
            <Stat
              key={budget.of}
              label={`Budget of ${OWNERS[budget.of]}`}
              value={budgetLeft(budget)}
              note={
                <>
                  <BudgetMeter of={budget} /> {budgetNote(budget)}
                </>
              }
            />
          ))}
          <Stat label="Expires" value={<When at={record.expires_at} />} note={dateTime(record.expires_at)} />
          <Stat
            label={`Spent in ${DAYS} days`}
            value={usd(sum)}
            note={khr(Math.round((sum / 1e6) * record.rate.khr_per_usd))}
          />
        </dl>
      </section>
      {history.key.capture === 'content' && (
        <Notice tone="warn">
          What is said with this key is captured: where this gateway exports traces, its prompts and answers go with
          them to those who run it.
        </Notice>
      )}
      <Card title={`Tokens by day, last ${DAYS} days`}>
        {history.days.every(({ tokens }) => tokens === 0) ? (
          <Empty title="Nothing spent yet" />
        ) : (
          <Chart
            label="Tokens by day"
            at={history.days.map(({ at }) => at)}
            step="day"
            zone={history.key.time_zone}
            series={[{ label: 'Tokens', values: history.days.map(({ tokens }) => tokens) }]}
            format={compact}
            scale={scale}
            height={200}
          />
        )}
      </Card>
      {history.models.length > 0 && (
        <Card title="By model" flush>
          <Table
            columns={['Model', ['Requests', 'num opt-1'], ['Tokens', 'num'], ['USD', 'num'], ['KHR', 'num opt-1']]}
          >
            {history.models.map((row) => (
              <tr key={row.model}>
                <th scope="row">{row.model}</th>
                <td class="num opt-1">{count(row.requests)}</td>
                <td class="num">{count(row.tokens)}</td>
                <td class="num">{money(row.cost_micro_usd)}</td>
                <td class="num opt-1">{count(row.cost_khr)}</td>
              </tr>
            ))}
          </Table>
        </Card>
      )}
    </>
  )
}
