// Thoughts that a server has left in the text, between the tags of its model's template (`<think>`), as those do that have no
// parser for them: they become thoughts.

import type { ChatEvent } from './event.ts'
import type { Logprob, Seal } from './part.ts'

/** Those that templates write and models were taught. What people ask for in prompts (`<thinking>`, `<reasoning>`) is text. */
const TAGS = [
  { opens: '<think>', closes: '</think>' },
  { opens: '<seed:think>', closes: '</seed:think>' },
  { opens: '[THINK]', closes: '[/THINK]' },
  { opens: '◁think▷', closes: '◁/think▷' },
] as const
type Tag = (typeof TAGS)[number]

/** More white space than this before a tag is what the model says. */
const MOST_SPACE = 200
/** A longer thought is one, whether it ends or not. In characters. */
const MOST_KEPT = 1_000_000

/** `begun`: the template has opened the tag, so that answers begin within a thought. `seal`: of the thoughts. */
export type TaggedThoughts = { begun?: boolean; seal?: Seal }

/** A text that is looked through. `part`: its number, and those of what it becomes, once they have begun. */
type Looked = {
  part: number
  tag: Tag | undefined
  phase: 'opening' | 'thought' | 'between' | 'text'
  /** What may be part of a tag, or white space at an end. */
  held: string
  events: ChatEvent[]
  thought: number | undefined
  text: number | undefined
  /** Characters so far: in the end, those before what is said. */
  passed: number
}

type Delta = Extract<ChatEvent, { type: 'text-delta' }>

/**
 * A transducer that parts a thought from the text that begins with it. An answer that begins with anything but a tag passes as
 * it is.
 */
export const taggedThoughts = ({ begun = false, seal }: TaggedThoughts): ((events: ChatEvent[]) => ChatEvent[]) => {
  let off = false
  let found = false
  let looked: Looked | undefined
  /** New numbers of parts: a text may become two parts, or none. */
  const numbers = new Map<number, number>()
  /** The texts that have been looked through, for what comes after their end. */
  const past = new Map<number, Looked>()
  let next = 0
  /** Of an answer that begins within a thought: all of that, and whether it has ended or anything else has come. */
  const all: string[] = []
  let kept = 0
  let other = false

  const renumbered = (event: Extract<ChatEvent, { part: number }>): ChatEvent => {
    if (event.type.endsWith('-start') || event.type === 'opaque') numbers.set(event.part, next++)
    const part = numbers.get(event.part) ?? event.part
    return part === event.part ? event : { ...event, part }
  }

  const keep = (said: string): void => {
    all.push(said)
    kept += said.length
    if (kept <= MOST_KEPT) return
    all.length = 0
    other = true
  }

  const think = (text: string, at: Looked, out: ChatEvent[]): void => {
    const said = at.thought === undefined ? text.trimStart() : text
    if (said === '') return
    if (at.thought === undefined) {
      at.thought = next++
      out.push({ type: 'reasoning-start', part: at.thought, full: true })
    }
    if (begun && !other) keep(said)
    out.push({ type: 'reasoning-delta', part: at.thought, text: said })
  }

  const endThought = ({ thought: part }: Looked, out: ChatEvent[]): void => {
    if (part !== undefined) out.push({ type: 'reasoning-end', part, ...(seal && { seal }) })
  }

  /** The text is none of a thought: what was held goes on as it came. */
  const release = (at: Looked): ChatEvent[] => {
    at.phase = 'text'
    if (!found) off = true
    const events = at.events.splice(0)
    if (off) return events
    at.text = next++
    numbers.set(at.part, at.text)
    const part = at.text
    return events.map((event) => ('part' in event ? { ...event, part } : event))
  }

  const opening = (at: Looked, delta: Delta): ChatEvent[] => {
    at.events.push(delta)
    at.held += delta.text
    const text = at.held.trimStart()
    const tag = TAGS.find(({ opens }) => text.startsWith(opens))
    const mayCome = TAGS.some(({ opens }) => opens.startsWith(text)) && at.held.length - text.length < MOST_SPACE
    if (tag === undefined && mayCome) return []
    if (tag === undefined && !begun) return release(at)
    Object.assign(at, { tag, phase: 'thought', held: '' })
    found = true
    at.events.length = 0
    return thinking(at, text.slice(tag?.opens.length ?? 0), delta)
  }

  /** `more`: what the delta tells of the thought. */
  const thinking = (at: Looked, more: string, delta: Delta): ChatEvent[] => {
    const out: ChatEvent[] = []
    const { closes } = at.tag ?? TAGS[0]
    const text = at.held + more
    const end = text.indexOf(closes)
    if (end === -1) {
      const sure = text.length - unsure(text, closes)
      at.held = text.slice(sure)
      think(text.slice(0, sure), at, out)
      return out
    }
    think(text.slice(0, end).trimEnd(), at, out)
    endThought(at, out)
    other = true
    Object.assign(at, { phase: 'between', held: '' })
    return [...out, ...between(at, text.slice(end + closes.length), delta)]
  }

  const between = (at: Looked, more: string, { text: whole, logprobs }: Delta): ChatEvent[] => {
    const text = more.trimStart()
    if (text === '') return []
    at.phase = 'text'
    at.passed -= text.length
    at.text = next++
    numbers.set(at.part, at.text)
    const kept = logprobs && behind(whole.length - text.length, logprobs)
    return [
      { type: 'text-start', part: at.text },
      { type: 'text-delta', part: at.text, text, ...(kept && kept.length > 0 && { logprobs: kept }) },
    ]
  }

  /** An event of the text that is looked through. */
  const within = (at: Looked, event: Extract<ChatEvent, { part: number }>): ChatEvent[] => {
    if (event.type === 'text-delta' && at.phase !== 'text') {
      at.passed += event.text.length
      if (at.phase === 'opening') return opening(at, event)
      return at.phase === 'thought' ? thinking(at, event.text, event) : between(at, event.text, event)
    }
    if (event.type !== 'text-end')
      return at.phase === 'opening' ? [...release(at), event] : at.text === undefined ? [] : [moved(event, at, at.text)]
    looked = undefined
    past.set(at.part, at)
    if (at.phase === 'opening' && !begun) return [...release(at), off ? event : renumbered(event)]
    const out: ChatEvent[] = []
    if (at.phase === 'thought' || at.phase === 'opening') {
      think(at.held.trimEnd(), at, out)
      endThought(at, out)
    }
    return at.text === undefined ? out : [...out, { type: 'text-end', part: at.text }]
  }

  const moved = (event: Extract<ChatEvent, { part: number }>, { passed }: Looked, part: number): ChatEvent => {
    if (event.type !== 'citation' || event.citation.kind !== 'url') return { ...event, part }
    const { start, end, ...citation } = event.citation
    if (start === undefined || end === undefined || start < passed) return { ...event, part, citation }
    return { ...event, part, citation: { ...citation, start: start - passed, end: end - passed } }
  }

  /** Where a model has not thought after all, what it said was the answer. */
  const unclosed = (): ChatEvent[] => {
    if (!begun || other || all.length === 0) return []
    const part = next++
    return [
      { type: 'text-start', part },
      { type: 'text-delta', part, text: all.join('') },
      { type: 'text-end', part },
    ]
  }

  const see = (event: ChatEvent): ChatEvent[] => {
    if (off) return [event]
    if (event.type === 'finish') return event.reason === 'stop' ? [...unclosed(), event] : [event]
    if (!('part' in event)) return [event]
    if (looked !== undefined && event.part === looked.part) return within(looked, event)
    const held = looked?.phase === 'opening' ? release(looked) : []
    if (off) return [...held, event]
    if (event.type === 'text-start') {
      looked = {
        ...{ part: event.part, tag: undefined, phase: 'opening', held: '', events: [event] },
        ...{ thought: undefined, text: undefined, passed: 0 },
      }
      return held
    }
    const begins = event.type.endsWith('-start') || event.type === 'opaque'
    // Where anything comes before the first text, no thought stands at its head: a server that tells thoughts has a parser for them.
    if (begins && !found) off = true
    other ||= begins
    const cited = event.type === 'citation' ? past.get(event.part) : undefined
    if (cited?.text !== undefined) return [...held, moved(event, cited, cited.text)]
    return off ? [event] : [...held, renumbered(event)]
  }
  return (events) => (off ? events : events.flatMap(see))
}

/** How many characters at the end are white space, or may begin what ends the thought. */
const unsure = (text: string, closes: string): number => {
  for (let length = Math.min(closes.length - 1, text.length); length > 0; length--)
    if (text.endsWith(closes.slice(0, length))) return length + trailing(text.slice(0, -length))
  return trailing(text)
}

/** Of white space without end only so much is looked at again. */
const trailing = (text: string): number => Math.min(text.length - text.trimEnd().length, MOST_SPACE)

/** The tokens that end behind so many characters. */
const behind = (chars: number, logprobs: Logprob[]): Logprob[] => {
  let end = 0
  return logprobs.filter(({ token }) => {
    end += token.length
    return end > chars
  })
}

/** What stands behind the thought that a text begins with, if it does. */
export const behindThought = (text: string): string => {
  const from = text.trimStart()
  const tag = TAGS.find(({ opens }) => from.startsWith(opens))
  const end = tag === undefined ? -1 : from.indexOf(tag.closes)
  return tag === undefined || end === -1 ? text : from.slice(end + tag.closes.length)
}

/** As templates write one. */
export const inTags = (thought: string): string => `${TAGS[0].opens}\n${thought}\n${TAGS[0].closes}\n\n`
