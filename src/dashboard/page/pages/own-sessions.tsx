// One's own sessions: where one is signed in, and signing out there.

import { useState } from 'preact/hooks'
import type { OwnSession } from '../../../admin-api/schema.ts'
import { deviceOf } from '../../../lib/device.ts'
import { call } from '../lib/api.ts'
import { dateTime } from '../lib/format.ts'
import { useAction, useResource } from '../lib/resource.ts'
import { signOut } from '../lib/session.ts'
import { Confirm } from '../ui/dialog.tsx'
import { Badge, Button, Card, Clip, Failure, Loaded, When } from '../ui/parts.tsx'
import { Table } from '../ui/rows.tsx'

export const OwnSessions = () => {
  const sessions = useResource((signal) => call('sessions.list', undefined, signal), [])
  const [ending, setEnding] = useState<OwnSession>()
  const [everywhere, setEverywhere] = useState(false)
  const leaving = useAction(signOut)
  return (
    <Card
      title="Your sessions"
      tools={
        <div class="row">
          <Button busy={leaving.busy} onClick={() => leaving.run()}>
            Sign out here
          </Button>
          <Button kind="danger" onClick={() => setEverywhere(true)}>
            Sign out everywhere
          </Button>
        </div>
      }
      flush
    >
      {leaving.error && <Failure error={leaving.error} />}
      <Loaded of={sessions} lines={3}>
        {({ items }) => (
          <Table columns={['Browser', ['Since', 'opt-1'], ['Last used', 'opt-1'], ['Ends', 'opt-2']]} actions>
            {items.map((one) => (
              <Row key={one.id} of={one} onEnd={() => setEnding(one)} />
            ))}
          </Table>
        )}
      </Loaded>
      {ending && (
        <Confirm
          title={`Sign out ${deviceOf(ending.agent)}?`}
          action="Sign out there"
          last
          onClose={() => setEnding(undefined)}
          run={async () => {
            await call('sessions.end', { id: ending.id })
            sessions.reload()
          }}
        >
          <p>
            {ending.address === null ? 'It' : `It was opened from ${ending.address} and`} has to sign in again. If you
            do not know it, change your password too.
          </p>
        </Confirm>
      )}
      {everywhere && (
        <Confirm
          title="Sign out everywhere?"
          action="Sign out everywhere"
          run={() => signOut(true)}
          onClose={() => setEverywhere(false)}
        >
          <p>All your sessions end, this one too. Your keys go on working.</p>
        </Confirm>
      )}
    </Card>
  )
}

const Row = ({ of, onEnd }: { of: OwnSession; onEnd: () => void }) => (
  <tr>
    <th scope="row">
      <span title={of.agent ?? undefined}>{deviceOf(of.agent)}</span>{' '}
      {of.current && <Badge tone="good">this one</Badge>}
      {of.address !== null && <Clip text={of.address} sub />}
      <span class="sub narrow">
        <When at={of.seen_at} />
      </span>
    </th>
    <td class="opt-1 nowrap">{dateTime(of.created_at)}</td>
    <td class="opt-1">
      <When at={of.seen_at} />
    </td>
    <td class="opt-2 nowrap">{dateTime(of.expires_at)}</td>
    <td>
      <span class="row end">
        {!of.current && (
          <Button size="small" onClick={onEnd} aria-label={`Sign out ${deviceOf(of.agent)}`}>
            Sign out
          </Button>
        )}
      </span>
    </td>
  </tr>
)
