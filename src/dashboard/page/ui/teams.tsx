// The teams: who is in each, and what they may use together.

import { useState } from 'preact/hooks'
import type { Team } from '../../../admin-api/schema.ts'
import { call } from '../lib/api.ts'
import { changesOf } from '../lib/changes.ts'
import { count } from '../lib/format.ts'
import { type Resource, useAction } from '../lib/resource.ts'
import { BudgetCell, BudgetFields, budgetDraft, needBudget } from './budget.tsx'
import { Confirm, Dialog } from './dialog.tsx'
import { Buttons, Form, Text } from './fields.tsx'
import { Icon } from './icons.tsx'
import { Button, Card, Empty, Loaded } from './parts.tsx'
import { Table } from './rows.tsx'

export const Teams = ({ of, onChange }: { of: Resource<{ items: Team[] }>; onChange: () => void }) => {
  const [making, setMaking] = useState(false)
  const [editing, setEditing] = useState<Team>()
  const [removing, setRemoving] = useState<Team>()
  return (
    <Loaded of={of}>
      {({ items }) => (
        <Card
          title="Teams"
          flush
          tools={
            <Button size="small" onClick={() => setMaking(true)}>
              <Icon name="plus" />
              New team
            </Button>
          }
        >
          {items.length === 0 ? (
            <Empty title="No teams">
              A team is a group of members that share a budget. A member is in one at most.
            </Empty>
          ) : (
            <TeamsTable items={items} onEdit={setEditing} onRemove={setRemoving} />
          )}
          {making && <TeamDialog onClose={() => setMaking(false)} onDone={onChange} />}
          {editing && <TeamDialog of={editing} onClose={() => setEditing(undefined)} onDone={onChange} />}
          {removing && (
            <Confirm
              title={`Remove the team ${removing.name}?`}
              action="Remove"
              last
              onClose={() => setRemoving(undefined)}
              run={async () => {
                await call('teams.remove', { id: removing.id })
                onChange()
              }}
            >
              <p>Its members stay, in no team, and its budget ends.</p>
            </Confirm>
          )}
        </Card>
      )}
    </Loaded>
  )
}

const TeamsTable = ({
  items,
  onEdit,
  onRemove,
}: {
  items: Team[]
  onEdit: (team: Team) => void
  onRemove: (team: Team) => void
}) => (
  <Table columns={['Team', ['Keys', 'num opt-1'], ['Members', 'opt-1'], 'Budget']} actions>
    {items.map((team) => (
      <tr key={team.id}>
        <th scope="row">
          <b class="name">{team.name}</b>
        </th>
        <td class="num opt-1">{count(team.keys)}</td>
        <td class="opt-1">{team.members.map(({ name }) => name).join(', ') || <span class="muted">none</span>}</td>
        <td>
          <BudgetCell of={team.budget} />
        </td>
        <td>
          <span class="row end one">
            <Button size="small" onClick={() => onEdit(team)} aria-label={`Edit the team ${team.name}`}>
              Edit
            </Button>
            <Button size="small" onClick={() => onRemove(team)} aria-label={`Remove the team ${team.name}`}>
              Remove
            </Button>
          </span>
        </td>
      </tr>
    ))}
  </Table>
)

/** `of` absent: a new one. */
const TeamDialog = ({ of, onClose, onDone }: { of?: Team; onClose: () => void; onDone: () => void }) => {
  const [name, setName] = useState(of?.name ?? '')
  const [opened] = useState(() => budgetDraft(of?.budget))
  const [budget, setBudget] = useState(opened)
  const saving = useAction(async () => {
    const team = { name: name.trim(), budget: needBudget(budget) }
    if (of === undefined) await call('teams.create', team)
    else await call('teams.update', { id: of.id, ...changesOf({ name: of.name, budget: needBudget(opened) }, team) })
    onDone()
    onClose()
  })
  return (
    <Dialog title={of === undefined ? 'New team' : `Edit ${of.name}`} onClose={onClose} firm>
      <Form onSubmit={() => void saving.run()} error={saving.error}>
        <Text label="Name" value={name} onChange={setName} required maxLength={100} autoFocus />
        <BudgetFields value={budget} onChange={setBudget} hint="Of all its members together; empty for none" />
        <p class="muted small">Members are put into it where they are edited.</p>
        <Buttons action={of === undefined ? 'Make the team' : 'Save'} busy={saving.busy} onCancel={onClose} />
      </Form>
    </Dialog>
  )
}
