// What a request holds beside what is asked: members that no answer depends on, and those that have another form. Where a
// refusal names none of what it refuses, it is one of these, or it is no fault of how the request is put.

import type { Remedy } from '../../errors.ts'
import { asObject, type JsonObject } from '../../ir/json.ts'
import type { ChatWire } from '../../ir/wire.ts'
import type { Span } from './kinds.ts'
import { namesOfSetting } from './member-names.ts'
import { type Place, placesOf, shownPath, valueAt } from './member-path.ts'
import { blankIn, cutCallIn, disordersIn, repeatedIdIn } from './oddities.ts'
import { CAPS, isHeld, isHint, WISHES, type Wish } from './wishes.ts'

/** `named`: what is left out. `place`: the first of it that its client may have written; `advice` says what else it may be. */
export type Settings = { place: Place; remedy: Remedy; named: readonly string[]; advice: string }

/** The last to be left out: what asks for the figures of a stream, and what is to be kept and paid. */
const LAST: ReadonlySet<string> = new Set(['stream_options', 'store', 'service_tier'])

/** Other forms, the likeliest to be refused first. Effort and thinking go together. */
const FORMS: readonly { remedy: Remedy; paths: readonly string[] }[] = [
  {
    remedy: 'no-thinking',
    paths: ['reasoning_effort', 'reasoning', 'thinking', 'output_config.effort'],
  },
  { remedy: 'output-by-tool', paths: ['response_format', 'text.format', 'output_config.format'] },
  { remedy: 'no-forced-tools', paths: ['tool_choice'] },
]

/**
 * What is to be left out next, or asked for in another form. `ofSettings`: the refusal speaks of parameters: other forms are
 * tried, too. Undefined where the request holds nothing of the kind.
 */
export const settingsIn = (wire: ChatWire, sent: JsonObject, ofSettings: boolean): Settings | undefined => {
  const held = WISHES[wire].filter(
    (wish) => isPlain(wish) && placesOf(sent, wish.path).some((place) => isHeld(wish, place, sent)),
  )
  const plain = [...new Set(held.flatMap(({ path, named = [path] }) => named))]
  const firsts = plain.filter((path) => !LAST.has(path))
  const forms = ofSettings ? FORMS.filter(({ paths }) => paths.some((path) => isAsked(sent, path))) : []
  const lasts = plain.filter((path) => LAST.has(path))
  const candidates = [...firsts, ...forms.flatMap(({ paths }) => paths.filter((path) => isAsked(sent, path))), ...lasts]
  const asked = candidates.filter((path) => !isHint(path))
  const place = placesOf(sent, asked[0] ?? candidates[0] ?? '')[0]
  if (place === undefined) return undefined
  const [form] = forms
  const advice = adviceOn(asked)
  if (firsts.length > 0) return { place, remedy: 'without-settings', named: firsts, advice }
  if (plain.length > 0) return { place, remedy: 'without-settings', named: plain, advice }
  return form && { place, remedy: form.remedy, named: form.paths, advice }
}

/** How a conversation is put more plainly next, where it is none of the settings. */
export const plainerIn = (wire: ChatWire, sent: JsonObject): { remedy?: Remedy } => {
  const disorders = disordersIn(wire, sent)
  if (wire === 'chat-completions') {
    const isEmpty = placesOf(sent, 'messages.*.content').some((place) => valueAt(sent, place) === null)
    if (isEmpty) return { remedy: 'no-null-content' }
    if (disorders.has('system')) return { remedy: 'no-mid-system' }
  }
  const isOdd =
    disorders.has('stray') ||
    disorders.has('open') ||
    [blankIn, cutCallIn, repeatedIdIn].some((find) => find(wire, sent))
  return isOdd ? { remedy: 'anew' } : {}
}

/** Those that a sentence calls by the words of a name: by all of one of several words, of a figure by its last; and the words. */
export const settingsCalled = (wire: ChatWire, sent: JsonObject, said: string): { paths: string[]; span?: Span } => {
  const paths = new Set<string>()
  let span: Span | undefined
  for (const wish of WISHES[wire]) {
    const place = isPlain(wish) && !CAPS.has(wish.path) ? placesOf(sent, wish.path)[0] : undefined
    if (place === undefined || !isHeld(wish, place, sent)) continue
    const isFigure = typeof valueAt(sent, place) === 'number'
    const found = namesOfSetting(shownPath(wish.path))
      .map((name) => inWords(name, isFigure)?.exec(said))
      .find((match) => match)
    if (!found) continue
    paths.add(wish.path)
    span ??= { at: found.index, length: found[0].length }
  }
  return { paths: [...paths], ...(span && { span }) }
}

/** The words of a member's name as they stand in a sentence. `isLast`: the last is enough. Of one word, or a letter, none are sure. */
const inWords = (name: string, isLast: boolean): RegExp | undefined => {
  const all = name.slice(name.lastIndexOf('.') + 1).split('_')
  const words = isLast && (all.at(-1)?.length ?? 0) > 2 ? all.slice(-1) : all
  if (words.length === 1 && !isLast) return undefined
  return new RegExp(`\\b${words.map((word) => word.replace(/s$|y$/, '')).join('\\w{0,3}[ _-]?')}(?:s|y|ies)?\\b`, 'i')
}

const isPlain = ({ remedy, form }: Wish): boolean => remedy === undefined && form !== true

/** A format of plain text, and a choice left to the model, ask for nothing. */
const isAsked = (sent: JsonObject, path: string): boolean => {
  const value = valueAt(sent, path.split('.'))
  return value !== undefined && value !== null && !IDLE.has(asObject(value).type ?? value)
}
const IDLE = new Set<unknown>(['text', 'auto', 'none', 'disabled'])

const adviceOn = (asked: readonly string[]): string => {
  const others = asked.slice(1, MOST_NAMED).map((path) => `'${shownPath(path)}'`)
  return others.length === 0
    ? 'Leave it out, or change it.'
    : `It may be another of its settings: ${others.join(', ')}.`
}

const MOST_NAMED = 8
