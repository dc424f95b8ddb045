// Whether what is on screen moves by itself.

import { count } from '../lib/format.ts'
import { counters, liveState } from '../lib/live.ts'

const WORDS = { connecting: 'Connecting', live: 'Live', lost: 'Connection lost, trying again' } as const
const TONES = { connecting: 'warn', live: 'good', lost: 'bad' } as const

export const LiveDot = () => {
  const open = counters.value?.open_exchanges
  const state = liveState.value
  return (
    <span class="live">
      <span class={`dot ${TONES[state]}`} aria-hidden="true" />
      {/* Read out when it changes; the count beside it changes all the time. */}
      <span>
        <span role="status">{WORDS[state]}</span>
        {state === 'live' && open !== undefined && `, ${count(open)} open`}
      </span>
    </span>
  )
}
