// Members: who may sign in, as what, and within which limits they make keys.

import { useState } from 'preact/hooks'
import type { Invitation, Member, MemberLimits, Role, Team } from '../../../admin-api/schema.ts'
import { DEFAULT_LIMITS } from '../../../members/member.ts'
import { call } from '../lib/api.ts'
import { changesOf, changesWithin } from '../lib/changes.ts'
import { compact, count, counted, dateTime, day, limitField } from '../lib/format.ts'
import { useAction, useResource } from '../lib/resource.ts'
import { session } from '../lib/session.ts'
import { BudgetCell, BudgetFields, budgetDraft, needBudget } from '../ui/budget.tsx'
import { Confirm, Dialog } from '../ui/dialog.tsx'
import { Buttons, Check, countOrNull, Form, needDays, Select, Text } from '../ui/fields.tsx'
import { Icon } from '../ui/icons.tsx'
import { ModelsField, needModels } from '../ui/models-field.tsx'
import { Badge, Button, Card, Failure, Loaded, Notice, PageHead, Secret } from '../ui/parts.tsx'
import { Table } from '../ui/rows.tsx'
import { needTools, ServerToolsField, toolsField } from '../ui/server-tools-field.tsx'
import { Teams } from '../ui/teams.tsx'

type Invited = { member: Member; invitation: Invitation }

export const Members = () => {
  const members = useResource((signal) => call('members.list', undefined, signal), [])
  const teams = useResource((signal) => call('teams.list', undefined, signal), [])
  const [inviting, setInviting] = useState(false)
  const [invited, setInvited] = useState<Invited>()
  const [editing, setEditing] = useState<Member>()
  const [removing, setRemoving] = useState<Member>()
  const show = (link?: Invited): void => {
    if (link) setInvited(link)
    reload()
  }
  const reload = (): void => {
    members.reload()
    teams.reload()
  }
  const known = teams.value?.items ?? []
  return (
    <div class="stack">
      <PageHead title="Members" lead="Members make and see their own keys, within the limits you set. Admins see all.">
        <Button kind="primary" onClick={() => setInviting(true)}>
          <Icon name="plus" />
          Invite
        </Button>
      </PageHead>
      <Loaded of={members}>
        {({ items }) => (
          <Card flush>
            <MembersTable items={items} onEdit={setEditing} onRemove={setRemoving} onInvited={show} />
          </Card>
        )}
      </Loaded>
      <Teams of={teams} onChange={reload} />
      {inviting && <MemberDialog teams={known} onClose={() => setInviting(false)} onDone={show} />}
      {editing && <MemberDialog of={editing} teams={known} onClose={() => setEditing(undefined)} onDone={show} />}
      {removing && <Remove of={removing} onClose={() => setRemoving(undefined)} onDone={reload} />}
      {invited && (
        <Dialog
          title={`${invited.member.status === 'active' ? 'New password' : 'Invitation'} for ${invited.member.name}`}
          onClose={() => setInvited(undefined)}
          firm
        >
          <Notice tone="good">
            Send this link. It works once, until {dateTime(invited.invitation.expires_at)}, and is shown only now.
            {invited.member.status === 'active' && ' Until it is used, the old password and sessions go on working.'}
          </Notice>
          <Secret text={location.origin + invited.invitation.path} label="Invitation link" />
          <div class="row end">
            <Button kind="primary" onClick={() => setInvited(undefined)}>
              Done
            </Button>
          </div>
        </Dialog>
      )}
    </div>
  )
}

const limitsText = ({ limits }: Member): string =>
  [
    limits.max_keys !== null && counted(limits.max_keys, 'key'),
    limits.max_tokens_per_key !== null && `${compact(limits.max_tokens_per_key)} tokens each`,
    limits.max_expiry_days !== null && counted(limits.max_expiry_days, 'day'),
    !limits.models.includes('*') && counted(limits.models.length, 'model'),
    limits.server_tools !== 'all' &&
      (limits.server_tools === 'none' ? 'no tools at the vendor' : 'some tools at the vendor'),
  ]
    .filter(Boolean)
    .join(', ') || 'no limits'

const MembersTable = ({
  items,
  onEdit,
  onRemove,
  onInvited,
}: {
  items: Member[]
  onEdit: (member: Member) => void
  onRemove: (member: Member) => void
  onInvited: (invited: Invited) => void
}) => {
  const [renewed, setRenewed] = useState('')
  const renewing = useAction(async (id: string) => {
    setRenewed(id)
    onInvited(await call('members.renew-invitation', { id }))
  })
  return (
    <>
      {renewing.error && (
        <div class="failure">
          <Failure error={renewing.error} />
        </div>
      )}
      <Table
        columns={[
          'Name',
          ['Role', 'opt-1'],
          ['Keys', 'num opt-1'],
          ['Limits', 'opt-1'],
          ['Budget', 'opt-2'],
          ['Since', 'opt-4'],
        ]}
        actions
      >
        {items.map((member) => (
          <tr key={member.id}>
            <th scope="row">
              <b class="name">{member.name}</b>
              {member.id === session.value?.member?.id && <span class="muted"> (you)</span>}
              <span class="sub narrow">
                {member.role}, {counted(member.keys, 'key')}
              </span>
              {member.team !== null && <span class="sub">in {member.team.name}</span>}
              {member.second_factor && <span class="sub">with a second factor</span>}
              {member.status === 'invited' && (
                <span class="sub">
                  {member.invitation_expires_at
                    ? `invited until ${dateTime(member.invitation_expires_at)}`
                    : 'the invitation has ended: make a new link'}
                </span>
              )}
            </th>
            <td class="opt-1">
              <Badge plain>{member.role}</Badge>
            </td>
            <td class="num opt-1">
              <a
                href={`/dashboard/keys?owner=${encodeURIComponent(member.id)}`}
                aria-label={`${counted(member.keys, 'key')} of ${member.name}`}
              >
                {count(member.keys)}
              </a>
            </td>
            <td class="opt-1">{member.role === 'admin' ? <span class="muted">none</span> : limitsText(member)}</td>
            <td class="opt-2">
              <BudgetCell of={member.budget} />
            </td>
            <td class="opt-4 nowrap">{day(member.created_at)}</td>
            <td>
              <span class="row end one">
                {member.id !== session.value?.member?.id && (
                  <Button
                    size="small"
                    busy={renewing.busy && renewed === member.id}
                    disabled={renewing.busy}
                    onClick={() => renewing.run(member.id)}
                    aria-label={`New link for ${member.name}`}
                    title={member.status === 'active' ? 'To set a new password with' : 'The one before it ends'}
                  >
                    New link
                  </Button>
                )}
                <Button size="small" onClick={() => onEdit(member)} aria-label={`Edit ${member.name}`}>
                  Edit
                </Button>
                {member.id !== session.value?.member?.id && (
                  <Button size="small" onClick={() => onRemove(member)} aria-label={`Remove ${member.name}`}>
                    Remove
                  </Button>
                )}
              </span>
            </td>
          </tr>
        ))}
      </Table>
    </>
  )
}

const NO_TEAM = ''

const ROLES: readonly (readonly [Role, string])[] = [
  ['member', 'Member: own keys only'],
  ['admin', 'Admin: everything'],
]

/** What a member gets who is invited without a word on it. */
const USUAL_LIMITS: MemberLimits = {
  max_keys: DEFAULT_LIMITS.maxKeys,
  max_tokens_per_key: DEFAULT_LIMITS.maxTokensPerKey,
  max_expiry_days: DEFAULT_LIMITS.maxExpiryDays,
  models: DEFAULT_LIMITS.models,
  server_tools: 'all',
}

/** `of` absent: an invitation. */
const MemberDialog = ({
  of,
  teams,
  onClose,
  onDone,
}: {
  of?: Member
  teams: Team[]
  onClose: () => void
  onDone: (invited?: Invited) => void
}) => {
  const before = of?.limits ?? USUAL_LIMITS
  const [name, setName] = useState(of?.name ?? '')
  const [role, setRole] = useState<Role>(of?.role ?? 'member')
  const [maxKeys, setMaxKeys] = useState(limitField(before.max_keys))
  const [maxTokens, setMaxTokens] = useState(limitField(before.max_tokens_per_key))
  const [maxDays, setMaxDays] = useState(limitField(before.max_expiry_days))
  const [models, setModels] = useState(before.models)
  const [tools, setTools] = useState(toolsField(before.server_tools))
  const [team, setTeam] = useState(of?.team?.id ?? NO_TEAM)
  const [budgetBefore] = useState(() => budgetDraft(of?.budget))
  const [budget, setBudget] = useState(budgetBefore)
  const [unsecured, setUnsecured] = useState(false)
  const saving = useAction(async () => {
    const limits: MemberLimits = {
      max_keys: countOrNull(maxKeys, 'Keys'),
      max_tokens_per_key: countOrNull(maxTokens, 'Tokens for each key'),
      max_expiry_days: maxDays.trim() === '' ? null : needDays(maxDays, 'Days until expiry'),
      models: needModels(models),
      server_tools: needTools(tools),
    }
    const member = { name: name.trim(), role, team: team === NO_TEAM ? null : team, budget: needBudget(budget) }
    if (of === undefined) onDone(await call('members.invite', { ...member, limits }))
    else {
      const changes = {
        ...changesOf(
          { name: of.name, role: of.role, team: of.team?.id ?? null, budget: needBudget(budgetBefore) },
          member,
        ),
        ...changesWithin('limits', before, limits),
        ...(unsecured ? { second_factor: false as const } : {}),
      }
      await call('members.update', { id: of.id, ...changes })
      onDone()
    }
    onClose()
  })
  return (
    <Dialog title={of === undefined ? 'Invite someone' : `Edit ${of.name}`} onClose={onClose} firm>
      <Form onSubmit={() => void saving.run()} error={saving.error}>
        <Text
          label="Name"
          value={name}
          onChange={setName}
          required
          maxLength={100}
          autoFocus
          hint="They sign in with it."
        />
        <Select label="Role" value={role} options={ROLES} onChange={setRole} />
        {teams.length > 0 && (
          <Select
            label="Team"
            value={team}
            options={[[NO_TEAM, 'None'], ...teams.map(({ id, name: called }) => [id, called] as const)]}
            onChange={setTeam}
          />
        )}
        <BudgetFields value={budget} onChange={setBudget} hint="Of all their keys together; empty for none" />
        {role === 'member' && (
          <>
            <div class="pair">
              <Text label="Keys" value={maxKeys} onChange={setMaxKeys} inputMode="numeric" placeholder="No limit" />
              <Text
                label="Tokens for each key"
                value={maxTokens}
                onChange={setMaxTokens}
                inputMode="numeric"
                placeholder="No limit"
              />
              <Text
                label="Days until expiry"
                value={maxDays}
                onChange={setMaxDays}
                inputMode="numeric"
                placeholder="No limit"
              />
            </div>
            <p class="muted small">An empty limit is no limit; 0 keys or tokens allow nothing.</p>
            <ModelsField value={models} onChange={setModels} />
            <ServerToolsField value={tools} onChange={setTools} />
          </>
        )}
        {of?.second_factor && of.id !== session.value?.member?.id && (
          <Check
            label="Remove their second factor"
            hint="For who has lost their phone and the recovery codes: the password alone is enough then."
            checked={unsecured}
            onChange={setUnsecured}
          />
        )}
        <Buttons action={of === undefined ? 'Make the link' : 'Save'} busy={saving.busy} onCancel={onClose} />
      </Form>
    </Dialog>
  )
}

const KEYS = [
  ['revoke', 'Revoke their keys'],
  ['keep', 'Keep their keys, without an owner'],
] as const

const Remove = ({ of, onClose, onDone }: { of: Member; onClose: () => void; onDone: () => void }) => {
  const [keys, setKeys] = useState<'revoke' | 'keep'>('revoke')
  return (
    <Confirm
      title={`Remove ${of.name}?`}
      action="Remove"
      last
      onClose={onClose}
      run={async () => {
        await call('members.remove', { id: of.id, keys })
        onDone()
      }}
    >
      <div class="form">
        <p>They are signed out everywhere and cannot come back without a new invitation.</p>
        {of.keys > 0 && (
          <Select label={`Their keys (${count(of.keys)})`} value={keys} options={KEYS} onChange={setKeys} />
        )}
      </div>
    </Confirm>
  )
}
