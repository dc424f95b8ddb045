// Whether what is on screen moves by itself.

import { count } from '../lib/format.ts'
import { counters, liveState } from '../lib/live.ts'

const WORDS = { connecting: 'Connecting', live: 'Live', lost: 'Connection lost, trying again' } as const
const TONES = { connecting: 'warn', live: 'good', lost: 'bad' } as const

export const LiveDot = () => {
  const open = counters.value?.open_exchanges
  const state = liveState.value
  return (
    <span class="live" role="status">
      <span class={`dot ${TONES[state]}`} aria-hidden="true" />
      {WORDS[state]}
      {state === 'live' && open !== undefined && `, ${count(open)} open`}
    </span>
  )
}
