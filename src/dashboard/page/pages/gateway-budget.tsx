// What the whole gateway may use: set here, unless the configuration file says it.

import { useState } from 'preact/hooks'
import type { OwnedBudget } from '../../../admin-api/schema.ts'
import { call } from '../lib/api.ts'
import { useAction, useResource } from '../lib/resource.ts'
import { BudgetFields, BudgetMeter, budgetDraft, budgetLeft, budgetNote, needBudget } from '../ui/budget.tsx'
import { Form } from '../ui/fields.tsx'
import { Badge, Button, Card, Loaded } from '../ui/parts.tsx'

export const GatewayBudget = () => {
  const budgets = useResource((signal) => call('budgets.list', undefined, signal), [])
  return (
    <Loaded of={budgets} lines={2}>
      {({ items }) => {
        const own = items.find(({ kind }) => kind === 'gateway')
        return (
          <Card
            title="Budget of the whole gateway"
            tools={own?.managed === 'file' && <span class="muted small">from sluice.yaml</span>}
          >
            <div class="stack">
              {own !== undefined && (
                <div>
                  {budgetLeft(own.budget)} left of {budgetNote(own.budget)} <BudgetMeter of={own.budget} />
                </div>
              )}
              {own?.managed === 'file' ? (
                <p class="muted small">It is changed in the configuration file.</p>
              ) : (
                <BudgetForm of={own} onSaved={budgets.reload} />
              )}
            </div>
          </Card>
        )
      }}
    </Loaded>
  )
}

const BudgetForm = ({ of, onSaved }: { of: OwnedBudget | undefined; onSaved: () => void }) => {
  const [draft, setDraft] = useState(() => budgetDraft(of?.budget))
  const [saved, setSaved] = useState(false)
  const saving = useAction(async () => {
    await call('budgets.put', { id: 'gateway', budget: needBudget(draft) })
    setSaved(true)
    onSaved()
  })
  return (
    <Form onSubmit={() => void saving.run()} error={saving.error}>
      <BudgetFields
        value={draft}
        onChange={(next) => {
          setDraft(next)
          setSaved(false)
        }}
        hint="Of all keys together; empty for none"
      />
      <div class="row end">
        <span role="status">{saved && <Badge tone="good">Set and in force</Badge>}</span>
        <Button kind="primary" type="submit" busy={saving.busy}>
          Set the budget
        </Button>
      </div>
    </Form>
  )
}
