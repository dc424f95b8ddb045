// What can be done with a key, each in its dialog.

import { useState } from 'preact/hooks'
import type { Key, KeyWithSecret } from '../../../admin-api/schema.ts'
import { call } from '../lib/api.ts'
import { count, countField } from '../lib/format.ts'
import { useAction } from '../lib/resource.ts'
import { isAdmin, session } from '../lib/session.ts'
import { Confirm, Dialog } from './dialog.tsx'
import { Buttons, Check, Form, needCount, readCount, Select, Text } from './fields.tsx'
import { KeyForm } from './key-form.tsx'

export type Doing = 'edit' | 'again' | 'top-up' | 'rotate' | 'revoke' | 'reset'

type KeyDialogProps = {
  doing: Doing
  of: Key
  onClose: () => void
  onChange: (key: Key) => void
  onSecret: (made: KeyWithSecret) => void
}

export const KeyDialog = ({ doing, of, onClose, onChange, onSecret }: KeyDialogProps) => {
  switch (doing) {
    case 'edit':
      return (
        <Dialog title="Edit key" onClose={onClose} firm>
          <KeyForm
            existing={of}
            onCancel={onClose}
            onDone={(_, key) => {
              onChange(key)
              onClose()
            }}
          />
        </Dialog>
      )
    case 'again':
      return (
        <Dialog title={`New key like “${of.label}”`} onClose={onClose} firm>
          <KeyForm
            like={of}
            onCancel={onClose}
            onDone={(secret) => {
              if (secret) onSecret(secret)
              onClose()
            }}
          />
        </Dialog>
      )
    case 'top-up':
      return <TopUp of={of} onClose={onClose} onChange={onChange} />
    case 'rotate':
      return <Rotate of={of} onClose={onClose} onSecret={onSecret} />
    case 'reset':
      return (
        <Confirm
          title="Reset usage"
          action="Reset to zero"
          onClose={onClose}
          run={async () => onChange(await call('keys.reset', { id: of.id }))}
        >
          <p>
            The {count(of.tokens_used)} tokens used count as not used: the key has its whole quota again. What was spent
            stays in the statistics.
          </p>
        </Confirm>
      )
    case 'revoke':
      return (
        <Confirm
          title={`Revoke “${of.label}”?`}
          action="Revoke key"
          last
          onClose={onClose}
          run={async () => onChange(await call('keys.revoke', { id: of.id }))}
        >
          <p>
            Whoever uses it is refused from now on. This cannot be undone: only a new key, with a new secret, can take
            its place.
          </p>
        </Confirm>
      )
  }
}

const USUAL = 1_000_000

const TopUp = ({ of, onClose, onChange }: Omit<KeyDialogProps, 'doing' | 'onSecret'>) => {
  // A member's key ends at the member's limit, wherever an admin has put it.
  const most = isAdmin.value ? null : (session.value?.member?.limits.max_tokens_per_key ?? null)
  const room = most === null ? USUAL : Math.min(USUAL, most - of.tokens_total)
  const [tokens, setTokens] = useState(countField(Math.max(0, room)))
  const [lasting, setLasting] = useState(false)
  const value = readCount(tokens)
  const adding = useAction(async () => {
    onChange(await call('keys.top-up', { id: of.id, tokens: needCount(tokens, 'Tokens to add'), lasting }))
    onClose()
  })
  if (room <= 0 && most !== null) {
    return (
      <Dialog title="Top up" onClose={onClose}>
        <p>The key has the {count(most)} tokens that one of yours may have. An admin can give it more.</p>
      </Dialog>
    )
  }
  return (
    <Dialog title="Top up" onClose={onClose}>
      <Form onSubmit={() => void adding.run()} error={adding.error}>
        <Text
          label="Tokens to add"
          value={tokens}
          onChange={setTokens}
          inputMode="numeric"
          required
          autoFocus
          hint={value === undefined ? 'Such as 250,000 or 2M' : `Then ${count(of.tokens_remaining + value)} are left.`}
        />
        {of.renews !== null && (
          <Check
            label={`For every ${of.renews} to come`}
            hint={`Else for this ${of.renews} alone: the next begins with ${count(of.tokens_total - of.tokens_extra)}.`}
            checked={lasting}
            onChange={setLasting}
          />
        )}
        <Buttons action="Add tokens" busy={adding.busy} onCancel={onClose} />
      </Form>
    </Dialog>
  )
}

const GRACES = [
  ['0', 'Ends at once'],
  ['3600', 'Works for one more hour'],
  ['86400', 'Works for one more day'],
  ['604800', 'Works for one more week'],
] as const

const Rotate = ({ of, onClose, onSecret }: Omit<KeyDialogProps, 'doing' | 'onChange'>) => {
  const [grace, setGrace] = useState<(typeof GRACES)[number][0]>('0')
  return (
    <Confirm
      title="Rotate the secret"
      action="Make a new secret"
      danger={false}
      onClose={onClose}
      run={async () => onSecret(await call('keys.rotate', { id: of.id, grace_seconds: Number(grace) }))}
    >
      <div class="form">
        <p>The key keeps its quota, limits and history; only the secret changes.</p>
        <Select label="The old secret" value={grace} options={GRACES} onChange={setGrace} />
      </div>
    </Confirm>
  )
}
