// The way in: first start, sign in, and accepting an invitation. Tokens travel in the address's fragment, which is never
// sent to a server by itself.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { ApiError, call } from '../lib/api.ts'
import { useAction, useResource } from '../lib/resource.ts'
import { enter, MIN_PASSWORD, session } from '../lib/session.ts'
import { Code, Form, Text } from '../ui/fields.tsx'
import { Brand } from '../ui/frame.tsx'
import { Button, Failure, Loaded, Notice, useTitle } from '../ui/parts.tsx'

export const Alone = ({
  title,
  lead,
  children,
}: {
  title: string
  lead?: ComponentChildren
  children: ComponentChildren
}) => {
  useTitle(title)
  return (
    <main class="alone">
      <Brand />
      <div class="card">
        <h1>{title}</h1>
        {lead && <p class="lead">{lead}</p>}
        {children}
      </div>
      <p class="muted small">
        Have a key? <a href="/usage">See what is left on it</a>. Building something? <a href="/docs">Read the API</a>.
      </p>
    </main>
  )
}

/** What follows is the page that was asked for. */
export const SignIn = () => (
  <Alone title="Sign in">
    <SignInForm />
  </Alone>
)

const SignInForm = ({ known = '' }: { known?: string | undefined }) => {
  const [name, setName] = useState(known)
  const [password, setPassword] = useState('')
  const [code, setCode] = useState<string>()
  const signing = useAction(async () => {
    try {
      enter(await call('session.sign-in', { name: name.trim(), password, ...(code === undefined ? {} : { code }) }))
    } catch (error) {
      // The password is right; that a code is needed, too, is no failure.
      if (code === undefined && error instanceof ApiError && error.param === 'code') setCode('')
      else throw error
    }
  })
  return (
    <Form onSubmit={() => void signing.run()} error={signing.error}>
      <Text label="Name" value={name} onChange={setName} autocomplete="username" required autoFocus={known === ''} />
      <Text
        label="Password"
        type="password"
        value={password}
        onChange={setPassword}
        autocomplete="current-password"
        required
        autoFocus={known !== ''}
      />
      {code !== undefined && <Code value={code} onChange={setCode} autoFocus />}
      <Button kind="primary" type="submit" busy={signing.busy}>
        Sign in
      </Button>
    </Form>
  )
}

/** Before the page, which waits behind it unseen: what was being written is not lost. */
export const SignInAgain = () => {
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const dialog = ref.current
    const before = document.activeElement
    dialog?.showModal()
    return () => {
      dialog?.close()
      setTimeout(() => before instanceof HTMLElement && before.focus())
    }
  }, [])
  return (
    <dialog
      ref={ref}
      class="again"
      aria-labelledby="again"
      onCancel={(event) => event.preventDefault()}
      onClose={() => ref.current?.isConnected && ref.current.showModal()}
    >
      <div class="dialog-head">
        <h2 id="again">Sign in again</h2>
      </div>
      <div class="dialog-body">
        <p>Your session has ended. What was on the page is still there.</p>
        <SignInForm known={session.value?.member?.name} />
      </div>
    </dialog>
  )
}

const PasswordFields = ({
  password,
  onPassword,
  again,
  onAgain,
}: {
  password: string
  onPassword: (text: string) => void
  again: string
  onAgain: (text: string) => void
}) => (
  <>
    <Text
      label="Password"
      type="password"
      value={password}
      onChange={onPassword}
      autocomplete="new-password"
      minLength={MIN_PASSWORD}
      required
      hint={`At least ${MIN_PASSWORD} characters. A few words are easy to keep in mind.`}
    />
    <Text
      label="Password again"
      type="password"
      value={again}
      onChange={onAgain}
      autocomplete="new-password"
      required
    />
    {again !== '' && password !== again && !password.startsWith(again) && (
      <Notice tone="warn">The two passwords differ.</Notice>
    )}
  </>
)

const sameOrThrow = (password: string, again: string): void => {
  if (password !== again) throw new Error('The two passwords differ.')
}

export const Setup = () => {
  const token = location.hash.slice(1)
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const [again, setAgain] = useState('')
  const setting = useAction(async () => {
    sameOrThrow(password, again)
    enter(await call('setup', { token, name: name.trim(), password }))
  })
  if (token === '') {
    return (
      <Alone title="Welcome to sluice" lead="This gateway has no administrator yet.">
        <p>
          Open the setup link that the gateway printed when it started. It looks like{' '}
          <code>{location.origin}/dashboard/setup#…</code> and stands in its terminal or log. A restart prints a new
          one.
        </p>
      </Alone>
    )
  }
  return (
    <Alone title="Welcome to sluice" lead="Choose who administers this gateway. You can invite others later.">
      <Form onSubmit={() => void setting.run()} error={setting.error}>
        <Text label="Your name" value={name} onChange={setName} autocomplete="username" required autoFocus />
        <PasswordFields password={password} onPassword={setPassword} again={again} onAgain={setAgain} />
        <Button kind="primary" type="submit" busy={setting.busy}>
          Create administrator
        </Button>
      </Form>
    </Alone>
  )
}

/** Before it is known what it is for: coming in, or a new password. */
const LINK = 'One-time link'

export const Invite = () => {
  const token = location.hash.slice(1)
  return token === '' ? (
    <Alone title={LINK}>
      <p>This link is not whole. Open it as it was sent to you, with all that follows the #.</p>
    </Alone>
  ) : (
    <Accept token={token} />
  )
}

const Accept = ({ token }: { token: string }) => {
  const opened = useResource((signal) => call('invitation.open', { token }, signal), [token])
  const [password, setPassword] = useState('')
  const [again, setAgain] = useState('')
  const [code, setCode] = useState('')
  const { route } = useLocation()
  const accepting = useAction(async () => {
    sameOrThrow(password, again)
    const more = opened.value?.needs_code === true ? { code } : {}
    enter(await call('invitation.accept', { token, password, ...more }))
    route('/dashboard', true)
  })
  if (opened.error) {
    return (
      <Alone title={LINK}>
        <Failure error={opened.error} />
        <p style={{ marginTop: '12px' }}>
          Set your password already? <a href="/dashboard">Sign in</a>.
        </p>
      </Alone>
    )
  }
  const status = opened.value?.status
  const isKnown = status === 'active'
  return (
    <Alone title={status === undefined ? LINK : isKnown ? 'Set a new password' : 'You are invited'}>
      <Loaded of={opened} lines={4}>
        {({ name, role, needs_code }) => (
          <Form onSubmit={() => void accepting.run()} error={accepting.error}>
            <p>
              {isKnown ? 'For ' : 'You will sign in as '}
              <b>{name}</b>
              {role === 'admin' ? ', an administrator.' : '.'}
              {isKnown &&
                ` Your sessions${role === 'admin' ? ', admin tokens and links' : ''} end with the old password.`}
            </p>
            <input type="text" hidden autocomplete="username" value={name} readOnly />
            <PasswordFields password={password} onPassword={setPassword} again={again} onAgain={setAgain} />
            {needs_code && <Code value={code} onChange={setCode} />}
            <Button kind="primary" type="submit" busy={accepting.busy}>
              {isKnown ? 'Set password' : 'Accept'}
            </Button>
          </Form>
        )}
      </Loaded>
    </Alone>
  )
}
