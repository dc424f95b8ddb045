// Accounts: the credentials the gateway has at providers, how busy they are and which models rest there.

import { useEffect } from 'preact/hooks'
import { call } from '../lib/api.ts'
import { count } from '../lib/format.ts'
import { useResource } from '../lib/resource.ts'
import { Badge, Card, Empty, Loaded, PageHead } from '../ui/parts.tsx'
import { STATE_TONES, STATE_WORDS } from './models.tsx'

const REFRESH_MS = 5_000

export const Accounts = () => {
  const accounts = useResource((signal) => call('accounts.list', undefined, signal), [])
  useEffect(() => {
    const timer = setInterval(() => document.hidden || accounts.reload(), REFRESH_MS)
    return () => clearInterval(timer)
  }, [accounts.reload])
  return (
    <div class="stack">
      <PageHead
        title="Accounts"
        lead="Credentials at providers, from the configuration. An account that keeps failing rests, then is tried again."
      />
      <Loaded of={accounts} lines={6}>
        {({ items }) =>
          items.length === 0 ? (
            <div class="card">
              <Empty title="No account is configured">
                <p>
                  Name a provider's base URL and credential in <code>sluice.yaml</code> or the environment, such as{' '}
                  <code>VENDOR_A_BASE_URL</code> and <code>VENDOR_A_API_KEY</code>, and restart.
                </p>
              </Empty>
            </div>
          ) : (
            <Card flush>
              <div class="table-wrap">
                <table>
                  <thead>
                    <tr>
                      <th scope="col">Account</th>
                      <th scope="col">State</th>
                      <th scope="col" class="opt-1">
                        Base URL
                      </th>
                      <th scope="col" class="opt-2">
                        Wires
                      </th>
                      <th scope="col" class="num opt-1">
                        Weight
                      </th>
                      <th scope="col" class="num">
                        Under way
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {items.map((account) => (
                      <tr key={`${account.provider} ${account.name}`}>
                        <th scope="row">
                          <b class="name">{account.name}</b>
                          <span class="sub whole">{account.provider}</span>
                        </th>
                        <td>
                          <Badge tone={STATE_TONES[account.state]}>{STATE_WORDS[account.state]}</Badge>
                          {account.models
                            .filter(({ state }) => state !== 'closed')
                            .map(({ model, state }) => (
                              <span class="sub" key={model}>
                                {model}: {STATE_WORDS[state]}
                              </span>
                            ))}
                        </td>
                        <td class="opt-1 mono" style={{ overflowWrap: 'anywhere' }}>
                          {account.base_url}
                        </td>
                        <td class="opt-2">{account.wires.join(', ')}</td>
                        <td class="num opt-1">{account.weight}</td>
                        <td class="num">{count(account.in_flight)}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            </Card>
          )
        }
      </Loaded>
    </div>
  )
}
