// What stands in the playground, and what came back: kept while the tab is open, so that a look at the exchange, or a
// reload, loses no words. The key and the image stay in memory; all of it goes when its owner signs out.

import { effect, signal } from '@preact/signals'
import { forgetOwnKey } from './own-key.ts'
import { EFFORTS, PLAY_WIRES, type Play, type Prompt, type Turn } from './play.ts'
import { expired, session } from './session.ts'

/** Numbers as they are typed. */
type Draft = Omit<Prompt, 'maxTokens' | 'temperature' | 'turns'> & {
  secret: string
  maxTokens: string
  temperature: string
}

const NAME = 'sluice-playground'
const EMPTY: Draft = {
  secret: '',
  wire: 'chat-completions',
  model: '',
  text: 'Explain in two sentences what a canal lock does.',
  image: undefined,
  tool: false,
  size: '1024x1024',
  system: '',
  maxTokens: '2048',
  temperature: '',
  effort: '',
}

const text = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise)

/** What the tab kept, and of which member. */
const read = (): { kept: Draft; by: string } => {
  try {
    const { owner, ...kept } = JSON.parse(sessionStorage.getItem(NAME) ?? '{}') as Partial<Draft> & { owner?: unknown }
    return {
      kept: {
        ...EMPTY,
        wire: PLAY_WIRES.find(([wire]) => wire === kept.wire)?.[0] ?? EMPTY.wire,
        model: text(kept.model, EMPTY.model),
        text: text(kept.text, EMPTY.text),
        tool: kept.tool === true,
        size: text(kept.size, EMPTY.size),
        system: text(kept.system, EMPTY.system),
        maxTokens: text(kept.maxTokens, EMPTY.maxTokens),
        temperature: text(kept.temperature, EMPTY.temperature),
        effort: EFFORTS.find((effort) => effort === kept.effort) ?? EMPTY.effort,
      },
      by: text(owner, ''),
    }
  } catch {
    return { kept: EMPTY, by: '' }
  }
}

const { kept, by } = read()
export const draft = signal<Draft>(kept)
export const answer = signal<Play | undefined>(undefined)
/** What was said before it. In memory, like the answer. */
export const turns = signal<readonly Turn[]>([])

export const edit = (change: Partial<Draft>): void => {
  draft.value = { ...draft.value, ...change }
  const { wire, model, text, tool, size, system, maxTokens, temperature, effort } = draft.value
  try {
    sessionStorage.setItem(
      NAME,
      JSON.stringify({ owner, wire, model, text, tool, size, system, maxTokens, temperature, effort }),
    )
  } catch {
    // Not kept then.
  }
}

let owner = by || undefined

effect(() => {
  // Whoever signs in again has the words back, not the key.
  if (expired.value) {
    draft.value = { ...draft.peek(), secret: '' }
    forgetOwnKey()
  }
  const before = owner
  owner = session.value?.member?.id ?? owner
  if (session.value?.signed_in !== false && (before === undefined || before === owner)) return
  draft.value = EMPTY
  answer.value = undefined
  turns.value = []
  forgetOwnKey()
  try {
    sessionStorage.removeItem(NAME)
  } catch {
    // Nothing was kept.
  }
})
