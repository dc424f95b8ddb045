// Asks who is signed in for their password again, before something that lets others in; then that goes on by itself.

import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { call, onProof } from '../lib/api.ts'
import { useAction } from '../lib/resource.ts'
import { session } from '../lib/session.ts'
import { Dialog } from './dialog.tsx'
import { Buttons, Form, Text } from './fields.tsx'

/** What waits for an answer; more than one call may. */
const asking = signal<PromiseWithResolvers<boolean> | undefined>(undefined)

onProof.ask = () => {
  asking.value ??= Promise.withResolvers<boolean>()
  return asking.value.promise
}

const answer = (given: boolean): void => {
  asking.value?.resolve(given)
  asking.value = undefined
}

export const Proof = () => (asking.value === undefined ? null : <Ask />)

const Ask = () => {
  const [password, setPassword] = useState('')
  const proving = useAction(async () => {
    await call('session.prove', { password })
    answer(true)
  })
  return (
    <Dialog title="Enter your password again" onClose={() => answer(false)} firm>
      <Form onSubmit={() => void proving.run()} error={proving.error}>
        <p>This lets others in: it is asked for again after five minutes.</p>
        <input type="text" hidden autocomplete="username" value={session.value?.member?.name} readOnly />
        <Text
          label="Your password"
          type="password"
          value={password}
          onChange={setPassword}
          autocomplete="current-password"
          required
          autoFocus
        />
        <Buttons action="Go on" busy={proving.busy} onCancel={() => answer(false)} />
      </Form>
    </Dialog>
  )
}
