// What a provider refuses of a request, by what was sent: a member, a value or a tool that its refusal names and that stands
// in the body. The words around the name decide only where the name alone does not.

import type { Remedy } from '../../errors.ts'
import type { Json, JsonObject } from '../../ir/json.ts'
import type { Effort } from '../../ir/request.ts'
import type { ChatWire } from '../../ir/wire.ts'
import { PROMPT } from '../decisive.ts'
import { EFFORTS } from '../settings/effort.ts'
import { CAP_IN_WORDS, otherCap, RANGE } from './cap.ts'
import { isBesideTools, lackingIn, NO_TEXT, SCHEMA_AT_FAULT, SHAPELESS, WANTS_TEXT } from './capabilities.ts'
import { isValue } from './echoes.ts'
import { type Hit, hitsOf, toolHits, valueHits, wordsOf } from './hits.ts'
import { isShapelessTool } from './holders.ts'
import { innermost, resolved, startsWith, within } from './led.ts'
import { type Place, pathOfPlace, placesOf, valueAt } from './member-path.ts'
import { aroundIn, type Found, type Name, saidIn } from './names.ts'
import { holdsPicture, isInPicture, isInThought, isPicture, showsPicture, thoughtOf } from './oddities.ts'
import { isSightless, picturesIn } from './pictures.ts'
import { isQuotedFrom, promptIn } from './quoted.ts'
import { plainerIn } from './settings.ts'
import { CAPS, isHeld, WISHES, type Wish } from './wishes.ts'

/** `remedy`, `named`: how to ask without it, or in its other form. `place`: where it stands in the body that was sent. */
export type Refused = {
  remedy?: Remedy
  named?: readonly string[]
  place?: Place
  advice?: string
  /** It is about pictures: none are taken, or one is not as it must be. */
  pictures?: 'none' | 'wrong'
  /** How many are taken, where more were sent. */
  mostPictures?: number
  /** No member is named, only that it is one of the settings. */
  ofSettings?: true
}

/** `error`: the body of the refusal. `sent`: the body that was refused. */
export const refusedIn = (wire: ChatWire, sent: JsonObject, error: unknown): Refused => {
  const names = namesOf(wire, sent, error)
  const thought = names.thought()
  if (thought !== undefined) return { remedy: 'no-reasoning', place: thought }
  const refused =
    streamIn(names, sent, error) ?? firstOf(FOUND, names.refusedBy) ?? names.refusedByValue() ?? names.refusedAsCap()
  if (refused !== undefined) return refused
  const place = names.told()
  if (place !== undefined && isInThought(sent, place)) return { remedy: 'no-reasoning', place }
  const lacking = lacksIn(wire, sent, error, place)
  const isApt =
    lacking.place === undefined
      ? lacking.pictures !== undefined
      : names.reaches(lacking.place) || isAbout(place, lacking.place)
  const named = place ?? (isApt ? undefined : names.beside())
  const told = { ...(named && { place: named }), ...(isApt ? lacking : {}) }
  const isSure = named !== undefined || (isApt && lacking.ofSettings !== true)
  const plain = isSure ? undefined : names.refusedBy('plain')
  if (plain !== undefined) return plain
  const isOfPicture = place !== undefined && isInPicture(sent, place)
  /** Of the conversation as a whole nothing is told that could be left out. */
  const isWhole = told.remedy === undefined && named?.length === 1 && PROMPT.has(`${named[0]}`)
  const pictures = isSure && !isOfPicture && !isWhole ? undefined : picturesIn(sent, error)
  // A server that takes none lists the types that it takes.
  const isOfType = isOfPicture && (place.at(-1) === 'type' || isPicture(valueAt(sent, place)))
  if (pictures !== undefined || isOfType) return pictures ?? { pictures: 'none' }
  return isWhole ? { ...told, ...plainerIn(wire, sent) } : told
}

/**
 * Whatever else it names, but for settings of a stream: what is not to be had in a stream is so without one, and the other way
 * round. `named`: what it is.
 */
const streamIn = (names: ReturnType<typeof namesOf>, sent: JsonObject, error: unknown): Refused | undefined => {
  const { text } = saidIn(error, sent)
  const isStreamed = sent.stream === true
  const found = (isStreamed ? NOT_IN_STREAM : IN_STREAM).exec(text)
  if (found === null || isQuotedFrom(promptIn(sent), aroundIn(text, found.index, found[0].length))) return undefined
  if (!isStreamed) return { remedy: 'streamed', place: ['stream'] }
  const place = firstOf(FOUND, names.refusedBy)?.place ?? names.told()
  const isOther = place !== undefined && place[0] !== 'stream'
  return { remedy: 'not-streamed', place: ['stream'], ...(isOther && { named: [pathOfPlace(place)] }) }
}

const NOT_IN_STREAM =
  /^(?!.*\bstream_\w).*(?:n[o’']t (?:\w{1,12}ly )?support(?:ed)?|n[o’']t (?:available|allowed)|\bunsupported)\W{1,3}(?:(?:by|with|in|for|when|while|during) )?(?:the )?stream(?:s|ed|ing)?\b/im

const IN_STREAM =
  /^(?!.*\bstream_\w).*(?:\b(?:must|requires?|needs?|only|set)\b.{0,40}\bstream\W{1,4}(?:(?:is|be|set|to) ){0,3}|\bstream["'`]?\s?[:=]\s?)true\b/im

/** Whether a refusal says of something that it is not known, or not to be had. */
export const deniesIn = (error: unknown, sent: JsonObject): boolean => DENIED.test(saidIn(error, sent).text)

/** The same by names alone, `surely` by those that can be nothing else; where what they name can be asked for otherwise. */
export const namedIn = (wire: ChatWire, sent: JsonObject, error: unknown, surely: boolean): Refused => {
  const refused = firstOf(surely ? SURE : FOUND, namesOf(wire, sent, error).refusedBy)
  return refused?.remedy === undefined ? {} : refused
}

const firstOf = (found: readonly Found[], refusedBy: (found: Found) => Refused | undefined): Refused | undefined => {
  for (const one of found) {
    const refused = refusedBy(one)
    if (refused !== undefined) return refused
  }
  return undefined
}

/** What a refusal names of the body: by each way of naming, by values and tools, and the first of all names for its client. */
const namesOf = (wire: ChatWire, sent: JsonObject, error: unknown) => {
  const { text, names } = saidIn(error, sent)
  const wishes = WISHES[wire].flatMap((wish) => {
    const place = placesOf(sent, wish.path).find((one) => isHeld(wish, one, sent))
    return place === undefined ? [] : [{ wish, place }]
  })
  const prompt = promptIn(sent)
  let named: Place | undefined
  /** What is refused only beside it is something else, where that is told. */
  let beside: Place | undefined
  /** All steps of its name, those included that lead nowhere. */
  let along: readonly string[] = []
  const refusedBy = (found: Found): Refused | undefined => {
    const here = names.filter((name) => name.found === found && !isEchoed(name, sent) && !isOffered(name, names))
    const hits: Hit[] = []
    for (const name of here) {
      const place = innermost(name, names, sent)
      const its = hitsOf(name, place, wishes, sent)
      if ((place === undefined && its.length === 0) || isQuotedFrom(prompt, name)) continue
      if (place !== undefined && isBlankText(place, sent)) return { remedy: 'anew', place, advice: NO_TEXT }
      if (place !== undefined && isShapeless(place, name, sent)) return { remedy: 'anew', place, advice: SHAPELESS }
      if (place !== undefined && isTold(name, its)) {
        if (CONDITION.test(name.before)) beside ??= place
        else if (named === undefined) {
          named = place
          along = name.steps
        }
      }
      hits.push(...its)
    }
    return (here.some(isCap) ? otherCap(text, sent) : undefined) ?? remedyFor(hits, text, sent)
  }
  return {
    refusedBy,
    refusedByValue: () =>
      remedyFor(valueHits(names, wishes, sent), text, sent) ?? remedyFor(toolHits(text, wishes), text, sent),
    refusedAsCap: () => {
      const found = CAP_IN_WORDS.exec(text)
      const isOurs = found !== null && !isQuotedFrom(prompt, aroundIn(text, found.index, found[0].length))
      return isOurs ? otherCap(text, sent) : undefined
    },
    told: () => (named === undefined || named[0] === 'model' ? undefined : within(named, names, sent)),
    /** A thought of the conversation that is named by its type. */
    thought: () =>
      names
        .filter((name) => isType(name, sent) && !isQuotedFrom(prompt, name))
        .map(({ steps }) => thoughtOf(sent, steps.at(-1)))
        .find((place) => place !== undefined),
    beside: () => beside,
    reaches: ([outer]: Place) => along.includes(`${outer}`),
  }
}

/** A type, and no member of that name, which settings may be called like. */
const isType = ({ found, steps, line }: Name, sent: JsonObject): boolean =>
  (found === 'quoted' || found === 'name') && (!Object.hasOwn(sent, steps.at(-1) ?? '') || OF_A_TYPE.test(line))
const OF_A_TYPE = /\b(?:types?|items?|blocks?|parts?|tags?)\b/i

/** Before a name, and the name. */
const CONDITION = /\b(?:when|if|while|unless) [^.,;:]{0,48}$/i

/** Whatever else is said of it. */
const isBlankText = (place: Place, sent: JsonObject): boolean =>
  (place.at(-1) === 'text' || place.at(-1) === 'content') && valueAt(sent, place) === ''

/** Whether a path leads to the parameters of a tool that has none. */
const isShapeless = (place: Place, { steps }: Name, sent: JsonObject): boolean =>
  PARAMETERS.some((name) => steps.includes(name) && !place.includes(name)) && isShapelessTool(valueAt(sent, place))
const PARAMETERS = ['parameters', 'input_schema']

/** Whether its client is told a member that is named so. What may be a word of the sentence is one only where it has a remedy. */
const isTold = ({ found, steps: [outer = ''] }: Name, hits: readonly Hit[]): boolean =>
  found === 'plain' ? hits.length > 0 : found !== 'word' || !PROMPT.has(outer)

/** Whether what stands in quotes, or as a word, is a value that the refusal repeats. */
const isEchoed = ({ found, steps, line }: Name, sent: JsonObject): boolean =>
  found !== 'told' && (found !== 'path' || steps.length > 1) && isValue(steps.join('.'), line, sent)

/** The outermost member that a refusal names, of a body on any wire; undefined where it names none of it. */
export const memberIn = (sent: JsonObject, error: unknown): string | undefined => {
  const { names } = saidIn(error, sent)
  const named = names.filter((name) => SURE.includes(name.found) && !isEchoed(name, sent))
  const place = SURE.flatMap((found) => named.filter((name) => name.found === found))
    .map(({ steps }) => resolved(sent, steps))
    .find((one) => one !== undefined)
  return place === undefined || place[0] === 'model' ? undefined : `${place[0]}`
}

/** What the provider cannot do of what was asked for. `place`: what the refusal names besides. */
export const lacksIn = (wire: ChatWire, sent: JsonObject, error: unknown, place?: Place): Refused => {
  const { text, names } = saidIn(error, sent)
  if (showsPicture(sent) && (isSightless(text, names) || isForPictures(place, text, sent))) return { pictures: 'none' }
  const lacking = lackingIn(wire, sent, text)
  if (lacking === undefined) return {}
  const { span, ...told } = lacking
  return isQuotedFrom(promptIn(sent), aroundIn(text, span.at, span.length)) ? {} : told
}

/** Whether what a sentence says no to is what the refusal names. Of the conversation many name a turn, or the whole. */
const isAbout = (named: Place | undefined, lacking: Place): boolean =>
  named === undefined ||
  startsWith(lacking, named) ||
  startsWith(named, lacking) ||
  (PROMPT.has(`${named[0]}`) && (named.length === 1 || (named.length <= 3 && named[0] === lacking[0])))

/** What a server wants to be a text is a list for the picture that it holds, and what has none is the picture. */
const isForPictures = (place: Place | undefined, text: string, sent: JsonObject): boolean => {
  if (place === undefined) return (WANTS_TEXT.test(text) && /\bcontents?\b/i.test(text)) || LACKS_TEXT.test(text)
  return (WANTS_TEXT.test(text) || OTHER_SHAPE.test(text)) && holdsPicture(valueAt(sent, place))
}
const LACKS_TEXT = /\btext\W{1,2}(?:is )?(?:not (?:set|present|given)|missing|required)\b/i
/** What parsers say of a content that is none of those that they know. */
const OTHER_SHAPE = /\b(?:variants?|union|enum)\b/i

const SURE: readonly Found[] = ['told', 'path', 'quoted', 'name']
const FOUND: readonly Found[] = [...SURE, 'word']

const remedyFor = (hits: readonly Hit[], text: string, sent: JsonObject): Refused | undefined => {
  const [first] = hits
  if (first === undefined) return undefined
  const isUnknown = UNKNOWN.test(text)
  const chosen = hits.find(({ wish }) => wish.form === undefined || !isUnknown) ?? first
  const { wish, place } = chosen
  if (wish.remedy === 'other-effort') return { ...effortsFor(text, valueAt(sent, place), isUnknown, wish), place }
  if (wish.remedy === 'output-by-tool' && SCHEMA_AT_FAULT.test(text)) return { place }
  if (wish.remedy === 'output-by-tool' && isBesideTools(sent, text)) return { remedy: 'output-or-tools', place }
  const { remedy, advice } = wish
  if (remedy !== undefined) return { remedy, named: wish.named ?? [], place, ...(advice && { advice }) }
  const left = hits.filter((hit) => hit.wish.remedy === undefined)
  // What is out of a range is the client's own affair, and so is the rest.
  if (typeof valueAt(sent, place) === 'number' && RANGE.test(text)) return { place }
  const paths = [...new Set(left.flatMap((hit) => hit.wish.named ?? [hit.wish.path]))]
  return { remedy: 'without-members', named: ONE_OF.test(text) ? paths.slice(-1) : paths, place }
}

const UNKNOWN =
  /unsupported[ _](?:parameter|argument|field|member)|un(?:known|recogni[sz]ed|expected)[ _](?:request )?(?:parameter|argument|name|field|key|member)|extra[ _](?:inputs|fields|forbidden)|not permitted|not support|is unsupported|additional ?propert|cannot find field/i
const DENIED = new RegExp(
  `${UNKNOWN.source}|not ?(?:an? )?(?:known|supported|implemented|accepted|allowed|available)|\\brejected\\b`,
  'i',
)
const ONE_OF = /\bboth\b|only one of|mutually exclusive|together/i

/** The efforts that the model takes, where the words list them or name the one that is refused; else none. */
const effortsFor = (text: string, value: Json | undefined, isUnknown: boolean, { path }: Wish): Refused => {
  const line = text.split('\n').find((one) => /effort/i.test(one) || LISTED.test(one)) ?? text
  const listed = LISTED.exec(line)?.[1]
  const taken = listed === undefined ? [] : EFFORTS.filter((effort) => NAMED[effort].test(listed))
  if (taken.length > 0) return { remedy: 'other-effort', named: taken }
  const refused = EFFORTS.find((effort) => effort === value && NAMED[effort].test(line))
  if (refused !== undefined && listed === undefined)
    return { remedy: 'other-effort', named: EFFORTS.filter((effort) => effort !== refused) }
  return path === 'reasoning.effort' && isUnknown ? { remedy: 'no-thinking' } : { remedy: 'other-effort', named: [] }
}

const NAMED = Object.fromEntries(
  EFFORTS.map((effort) => [effort, new RegExp(`'${effort}'|(?<![\\w.])${effort}\\b`)]),
) as Record<Effort, RegExp>

/** The values in a row, quoted in any way: what follows them may be the one that was refused. */
const LISTED = new RegExp(
  `(?:supported (?:values|levels|efforts)(?: are)?:?|should be|expected one of|must be one of:?|allowed values(?: are)?:?)((?:[\\s,[(<>]|\\bor\\b|\\band\\b|\\w{1,40}\\.\\w{1,10}:|["'\`]?\\b(?:auto|default|${EFFORTS.join('|')})\\b["'\`]?)+)`,
  'i',
)

/** Of two names of the cap the second is the one to use. */
const isOffered = (name: Name, names: readonly Name[]): boolean => {
  if (!isCap(name)) return false
  const first = names.find(isCap)
  return first !== undefined && first.steps.at(-1) !== name.steps.at(-1)
}

const isCap = ({ steps }: Name): boolean => CAPS.has(snake(steps.at(-1))) || CAPS.has(steps[0] ?? '')

const snake = (name = ''): string => wordsOf(name).join('_')
