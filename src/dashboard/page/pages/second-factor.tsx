// One's own second factor: setting it up, its recovery codes, and doing without it.

import { useState } from 'preact/hooks'
import { call } from '../lib/api.ts'
import { counted } from '../lib/format.ts'
import { useAction, useResource } from '../lib/resource.ts'
import { loadSession, session, signOut } from '../lib/session.ts'
import { Confirm, Dialog } from '../ui/dialog.tsx'
import { Buttons, Code, Form } from '../ui/fields.tsx'
import { Badge, Button, Card, Failure, Loaded, Notice, Secret, Snippet } from '../ui/parts.tsx'
import { QrCode } from '../ui/qr-code.tsx'
import { Alone } from './entry.tsx'

type Doing = 'set-up' | 'renew' | 'remove'

/** Few enough to make new ones soon. */
const FEW_CODES = 3

export const SecondFactor = () => {
  const [doing, setDoing] = useState<Doing>()
  const [codes, setCodes] = useState<string[]>()
  const member = session.value?.member
  const on = member?.second_factor === true
  const left = member?.recovery_codes ?? 0
  const close = (): void => {
    setDoing(undefined)
    setCodes(undefined)
    void loadSession()
  }
  const show = (made: string[]): void => {
    setDoing(undefined)
    setCodes(made)
  }
  return (
    <Card title="Second factor" tools={on ? <Badge tone="good">on</Badge> : <Badge plain>off</Badge>}>
      <div class="form">
        <p class="muted">
          {on
            ? 'Signing in takes your password and a code of your authenticator.'
            : 'With it, signing in takes a code of an authenticator on your phone beside your password.'}
        </p>
        {on && left <= FEW_CODES && (
          <Notice tone="warn">
            {left === 0 ? 'No recovery codes are left.' : `Only ${counted(left, 'recovery code')} left.`} Make new ones.
          </Notice>
        )}
        <div class="row">
          {on ? (
            <>
              <Button onClick={() => setDoing('renew')}>New recovery codes</Button>
              <Button kind="danger" onClick={() => setDoing('remove')}>
                Remove
              </Button>
              <span class="muted small">{counted(left, 'recovery code')} left</span>
            </>
          ) : (
            <Button kind="primary" onClick={() => setDoing('set-up')}>
              Set up
            </Button>
          )}
        </div>
      </div>
      {doing === 'set-up' && (
        <Dialog title="Set up a second factor" onClose={close} firm>
          <SetUp onDone={show} onCancel={close} />
        </Dialog>
      )}
      {doing === 'renew' && (
        <Confirm
          title="Make new recovery codes?"
          action="Make new codes"
          danger={false}
          onClose={() => setDoing(undefined)}
          run={async () => show((await call('second-factor.renew-codes')).recovery_codes)}
        >
          <p>Those you have now open nothing any more.</p>
        </Confirm>
      )}
      {doing === 'remove' && (
        <Confirm
          title="Do without a second factor?"
          action="Remove"
          onClose={() => setDoing(undefined)}
          run={async () => {
            await call('second-factor.remove')
            await loadSession()
          }}
        >
          <p>Your password alone is enough to sign in then.</p>
        </Confirm>
      )}
      {codes && (
        <Dialog title="Recovery codes" onClose={close} firm>
          <Codes of={codes} onDone={close} />
        </Dialog>
      )}
    </Card>
  )
}

/** For an admin who lacks what is asked of every admin: nothing else is to be done before. */
export const FactorDue = () => {
  const [codes, setCodes] = useState<string[]>()
  const leaving = useAction(signOut)
  return (
    <Alone
      title={codes === undefined ? 'Set up a second factor' : 'Recovery codes'}
      lead={codes === undefined ? 'This gateway asks for one of every admin.' : undefined}
    >
      {codes === undefined ? <SetUp onDone={setCodes} /> : <Codes of={codes} onDone={() => void loadSession()} />}
      <div class="row" style={{ marginTop: '14px' }}>
        <Button kind="quiet" busy={leaving.busy} onClick={() => leaving.run()}>
          Sign out
        </Button>
      </div>
      {leaving.error && <Failure error={leaving.error} />}
    </Alone>
  )
}

const SetUp = ({ onDone, onCancel }: { onDone: (codes: string[]) => void; onCancel?: () => void }) => {
  const offered = useResource(() => call('second-factor.offer'), [])
  const [code, setCode] = useState('')
  const enabling = useAction(async () => onDone((await call('second-factor.enable', { code })).recovery_codes))
  return (
    <Loaded of={offered} lines={6}>
      {({ secret, uri }) => (
        <Form onSubmit={() => void enabling.run()} error={enabling.error}>
          <p>Scan this with an authenticator, or type the secret into it. Then enter the code that it shows.</p>
          <QrCode text={uri} label="The secret, to be scanned" />
          <Secret text={secret} label="Secret" />
          <Code value={code} onChange={setCode} hint="Six digits, new every half minute." autoFocus />
          {onCancel === undefined ? (
            <Button kind="primary" type="submit" busy={enabling.busy}>
              Turn on
            </Button>
          ) : (
            <Buttons action="Turn on" busy={enabling.busy} onCancel={onCancel} />
          )}
        </Form>
      )}
    </Loaded>
  )
}

const Codes = ({ of, onDone }: { of: string[]; onDone: () => void }) => (
  <div class="form">
    <Notice tone="good">
      Keep these where you will find them without your phone. Each takes the place of a code once. They are shown only
      now.
    </Notice>
    <Snippet text={of.join('\n')} />
    <div class="row end">
      <Button kind="primary" onClick={onDone}>
        Done
      </Button>
    </div>
  </div>
)
