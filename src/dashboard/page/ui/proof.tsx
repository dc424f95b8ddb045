// Asks who is signed in for their password again, before something that lets others in; then that goes on by itself.

import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { call, onProof } from '../lib/api.ts'
import { useAction } from '../lib/resource.ts'
import { session } from '../lib/session.ts'
import { Dialog } from './dialog.tsx'
import { Buttons, Code, Form, Text } from './fields.tsx'

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
  const [code, setCode] = useState('')
  const needsCode = session.value?.member?.second_factor === true
  const proving = useAction(async () => {
    await call('session.prove', { password, ...(needsCode ? { code } : {}) })
    answer(true)
  })
  return (
    <Dialog title="Enter your password again" onClose={() => answer(false)} firm>
      <Form onSubmit={() => void proving.run()} error={proving.error}>
        <p>What you are about to do decides who gets in. For five minutes you are not asked again.</p>
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
        {needsCode && <Code value={code} onChange={setCode} />}
        <Buttons action="Go on" busy={proving.busy} onCancel={() => answer(false)} />
      </Form>
    </Dialog>
  )
}
