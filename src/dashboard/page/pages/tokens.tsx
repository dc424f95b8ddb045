// Admin tokens: for scripts and the command line, with all an admin may do but change people and make tokens.

import { useState } from 'preact/hooks'
import type { AdminToken, AdminTokenWithSecret } from '../../../admin-api/schema.ts'
import { call } from '../lib/api.ts'
import { day } from '../lib/format.ts'
import { useAction, useResource } from '../lib/resource.ts'
import { Confirm, Dialog } from '../ui/dialog.tsx'
import { Buttons, Form, needTimeToCome, Text } from '../ui/fields.tsx'
import { Badge, Button, Card, Empty, Loaded, Notice, Secret, Snippet, When } from '../ui/parts.tsx'
import { Table } from '../ui/rows.tsx'

const TONES = { active: 'good', expired: 'warn', revoked: 'bad' } as const

export const Tokens = () => {
  const tokens = useResource((signal) => call('tokens.list', undefined, signal), [])
  const [creating, setCreating] = useState(false)
  const [made, setMade] = useState<AdminTokenWithSecret>()
  const [revoking, setRevoking] = useState<AdminToken>()
  return (
    <Card title="Admin tokens" tools={<Button onClick={() => setCreating(true)}>Create token</Button>} flush>
      <Loaded of={tokens} lines={3}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No admin tokens">
              <p>A token lets a script use the admin API, for instance to make keys.</p>
            </Empty>
          ) : (
            <Table
              columns={['Label', 'Status', ['Last used', 'opt-1'], ['Expires', 'opt-2'], ['Made by', 'opt-2']]}
              actions
            >
              {items.map((token) => (
                <tr key={token.id}>
                  <th scope="row">
                    <b class="name">{token.label}</b>
                  </th>
                  <td>
                    <Badge tone={TONES[token.status]}>{token.status}</Badge>
                  </td>
                  <td class="opt-1">
                    <When at={token.used_at} />
                  </td>
                  <td class="opt-2">{token.expires_at === null ? 'never' : day(token.expires_at)}</td>
                  <td class="opt-2">{token.created_by?.name ?? '–'}</td>
                  <td>
                    <span class="row end">
                      {token.status === 'active' && (
                        <Button
                          size="small"
                          onClick={() => setRevoking(token)}
                          aria-label={`Revoke token ${token.label}`}
                        >
                          Revoke
                        </Button>
                      )}
                    </span>
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Loaded>
      {creating && (
        <Create
          onClose={() => setCreating(false)}
          onMade={(token) => {
            setCreating(false)
            setMade(token)
            tokens.reload()
          }}
        />
      )}
      {made && (
        <Dialog title={`Admin token “${made.token.label}”`} onClose={() => setMade(undefined)} firm>
          <Notice tone="good">Copy the token now. It is shown this once.</Notice>
          <Secret text={made.secret} label="Admin token" />
          <Snippet
            text={`export SLUICE_SERVER=${location.origin}\nexport SLUICE_TOKEN=${made.secret}\nsluice keys list`}
          />
          <Snippet text={`curl ${location.origin}/admin/api/keys \\\n  -H "Authorization: Bearer ${made.secret}"`} />
          <div class="row end">
            <Button kind="primary" onClick={() => setMade(undefined)}>
              Done
            </Button>
          </div>
        </Dialog>
      )}
      {revoking && (
        <Confirm
          title={`Revoke “${revoking.label}”?`}
          action="Revoke token"
          last
          onClose={() => setRevoking(undefined)}
          run={async () => {
            await call('tokens.revoke', { id: revoking.id })
            tokens.reload()
          }}
        >
          <p>Whatever uses it is refused from now on.</p>
        </Confirm>
      )}
    </Card>
  )
}

const Create = ({ onClose, onMade }: { onClose: () => void; onMade: (made: AdminTokenWithSecret) => void }) => {
  const [label, setLabel] = useState('')
  const [expires, setExpires] = useState('')
  const creating = useAction(async () => {
    onMade(
      await call('tokens.create', {
        label: label.trim(),
        expires_at: expires === '' ? null : needTimeToCome(expires, 'Expires'),
      }),
    )
  })
  return (
    <Dialog title="New admin token" onClose={onClose} firm>
      <Form onSubmit={() => void creating.run()} error={creating.error}>
        <Text
          label="Label"
          value={label}
          onChange={setLabel}
          required
          maxLength={200}
          autoFocus
          placeholder="Which script uses it"
        />
        <Text
          label="Expires"
          type="datetime-local"
          value={expires}
          onChange={setExpires}
          hint="Leave empty for a token without end."
        />
        <Buttons action="Create token" busy={creating.busy} onCancel={onClose} />
      </Form>
    </Dialog>
  )
}
