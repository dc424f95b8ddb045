// Translated answers, kept so that clients may refer to them by id as if the provider had stored them. Large ones are written
// and read in pieces, in turns of the event loop.

import { asObjects, isObject, type Json, type JsonObject, parseObject } from '../../ir/json.ts'
import type { AnswerStore, Bounds, KeptAnswer, PartOf, Piece, Place } from '../../ledger/kept-answers.ts'
import type { Edit } from '../../lib/json-splice.ts'
import { splice } from '../../lib/json-splice.ts'
import { lend } from '../../lib/memory.ts'
import type { Turns } from '../../lib/turns.ts'
import { type References, type Rememberable, referenceEdits, referencesIn } from '../../wire/responses/references.ts'

/** Keeps the answer, once it is made, if it can: it is found from then on. Never rejects. */
export type Keep = (answer: JsonObject) => Promise<void>

export type Recall = {
  /** The edits that resolve the references of this key's request, as far as they are known. `outline`: of the body, or all of it. */
  edits(keyId: string, outline: JsonObject, whole: () => JsonObject): Edit[] | Promise<Edit[]>
  /** Takes the request of an answer that is being made. `size`: of its input, about. */
  open(keyId: string, request: Rememberable, size: number): Keep
  /** Whether a client may go on from an answer at another node. */
  readonly isShared: boolean
  /** Notes which account keeps an answer itself. Where others have to know, it resolves once they can. */
  place(place: Place): Promise<void> | undefined
  placeOf(keyId: string, answerId: string): Promise<Pick<KeptAnswer, 'place' | 'tokens'> | undefined>
  /** The text of a kept answer; undefined where this key has none of that id. */
  answer(keyId: string, id: string): Promise<string | undefined>
  /** The items that the model was given for it, in turns: those of the conversation before it, then its own. */
  input(keyId: string, id: string): Promise<Json[] | undefined>
  /** False where this key has none of that id. */
  forget(keyId: string, id: string): Promise<boolean>
  /** Writes what waits to be written together. */
  flush(): Promise<void>
}

type Options = {
  answers: () => AnswerStore
  bounds: () => Bounds
  turns: Turns
  /** A write has failed: the answer goes out all the same, and cannot be referred to. */
  failed: (cause: unknown) => void
  /** See `Recall`. */
  isShared?: boolean
  /** An answer was found that its provider keeps: whoever remembers such need not look for it again. */
  found?: (place: Place) => void
}

export const PIECE_CHARS = 64 * 1024
/** From this size on what was asked is written while the answer is made, and not held in memory for so long. */
const LARGE = 256 * 1024
/** Pieces written or removed in one turn. */
const AT_ONCE = 8
/** What is read in one turn, of so many parts at most. */
const BYTES_AT_ONCE = AT_ONCE * PIECE_CHARS
const PARTS_AT_ONCE = 256
/** Where answers are kept by their providers is written together; sooner where the end of an answer waits for it. */
const PLACES_MS = 50
const AWAITED_MS = 2
/** No answer is held for longer by a store that is away. */
const MOST_AWAITED_MS = 2_000

export const createRecall = ({
  answers,
  bounds,
  turns,
  failed,
  isShared = false,
  found: tell = () => undefined,
}: Options): Recall => {
  const tellOf = (keyId: string, answer: KeptAnswer | undefined): void => {
    if (answer?.place !== undefined) tell({ keyId, id: answer.id, account: answer.place, tokens: answer.tokens })
  }

  const find = async (keyId: string, id: string): Promise<KeptAnswer | undefined> => {
    const answer = await answers().find(keyId, id)
    tellOf(keyId, answer)
    return answer
  }

  /** Their texts, in the order of the parts. */
  const read = async (parts: readonly PartOf[]): Promise<string[]> => {
    const texts = parts.map((): string[] => [])
    for (let at = 0; at < parts.length; ) {
      const some = parts.slice(at, at + PARTS_AT_ONCE)
      const from = texts[at]?.length ?? 0
      const more = await turns(BYTES_AT_ONCE, () => answers().read(some, from, BYTES_AT_ONCE))
      for (const { nth, text } of more) texts[at + nth]?.push(text)
      const isCut = more.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0) >= BYTES_AT_ONCE
      at += isCut ? (more.at(-1)?.nth ?? 0) : some.length
    }
    return texts.map((pieces) => pieces.join(''))
  }

  /** The answers of the conversation up to that one, oldest first; undefined where one of them is not here any more. */
  const conversation = async (keyId: string, id: string): Promise<KeptAnswer[] | undefined> => {
    const there = new Map((await answers().conversation(keyId, id)).map((answer) => [answer.id, answer]))
    const found: KeptAnswer[] = []
    for (let at: string | undefined = id; at !== undefined; at = found.at(-1)?.previous) {
      const answer = there.get(at)
      tellOf(keyId, answer)
      if (answer === undefined || answer.place !== undefined) return undefined
      // One that comes back to itself is not found a second time.
      there.delete(at)
      found.push(answer)
    }
    return found.reverse()
  }

  /** They are found all the same where that fails, and nobody waits for it. */
  const use = (used: readonly KeptAnswer[]): void => void answers().use(used).catch(failed)

  const textBefore = async (keyId: string, id: string): Promise<string | undefined> => {
    const found = await conversation(keyId, id)
    const last = found?.at(-1)
    if (found === undefined || last === undefined) return undefined
    use([last])
    const texts = await read(found.flatMap(inputAndOutput))
    return texts.filter((text) => text !== '').join(',')
  }

  const itemsOf = async (keyId: string, ids: readonly string[]): Promise<Map<string, JsonObject>> => {
    const items = new Map<string, JsonObject>()
    const found = ids.length === 0 ? [] : await answers().withItems(keyId, ids)
    if (found.length > 0) use(found)
    for (const text of await read(found.map(({ row }) => ({ row, part: 'output' })))) {
      for (const item of asObjects(parsedItems(text))) if (typeof item.id === 'string') items.set(item.id, item)
    }
    return items
  }

  const resolve = async (keyId: string, { items, previous }: References, whole: () => JsonObject): Promise<Edit[]> => {
    const before = previous === undefined ? undefined : await textBefore(keyId, previous)
    const found = await itemsOf(keyId, items)
    if (before === undefined && found.size === 0) return []
    return turns(before?.length ?? 0, () => referenceEdits(whole(), { item: (id) => found.get(id), before }))
  }

  /** What is written of a large request is not held meanwhile: this alone lives as long as its answer is made. */
  const stageInput = async (
    stage: NonNullable<AnswerStore['stage']>,
    input: Rememberable['input'],
  ): Promise<number | undefined> => {
    let staged: number | undefined
    for (const texts of inputPieces(input)) {
      const pieces = await turns(PIECE_CHARS, () => texts.map((text): Piece => ({ part: 'input', text })))
      staged = await turns(PIECE_CHARS, () => stage(staged, pieces))
    }
    return staged
  }

  /** In a scope of its own: what `open` was given lives no longer than it is needed. */
  const keeping = (
    keyId: string,
    previous: string | undefined,
    input: Rememberable['input'],
    written: Promise<number | undefined>,
  ): Keep => {
    written.catch(() => undefined)
    return async (answer) => {
      try {
        await keep({ keyId, previous, input }, answer, await written)
      } catch (cause) {
        failed(cause)
      }
    }
  }

  const keep = async (
    { keyId, previous, input }: { keyId: string; previous: string | undefined; input: Rememberable['input'] },
    answer: JsonObject,
    written: number | undefined,
  ): Promise<void> => {
    const { id, output } = answer
    if (typeof id !== 'string' || !Array.isArray(output)) return
    const items = output.filter(isObject)
    const pieces = [
      ...[...inputPieces(input)].flat().map((text): Piece => ({ part: 'input', text })),
      ...[...inPieces(items)].flat().map((text): Piece => ({ part: 'output', text })),
      ...cut(JSON.stringify({ ...answer, output: [] })).map((text): Piece => ({ part: 'rest', text })),
    ]
    let staged = written
    const { stage } = answers()
    // All but the last of many are written before, so that no write takes long.
    while (stage !== undefined && pieces.length > AT_ONCE) {
      const some = pieces.splice(0, AT_ONCE)
      staged = await turns(AT_ONCE * PIECE_CHARS, () => stage(staged, some))
    }
    const ids = items.flatMap((item) => (typeof item.id === 'string' ? [item.id] : []))
    const made = { keyId, id, previous, items: ids }
    await answers().keep(made, pieces, bounds(), staged)
  }

  let places: Place[] = []
  let written = Promise.withResolvers<void>()
  const writePlaces = async (): Promise<void> => {
    const due = places
    const { resolve } = written
    places = []
    written = Promise.withResolvers()
    const late = setTimeout(resolve, MOST_AWAITED_MS).unref()
    if (due.length > 0) await answers().place(due, bounds()).catch(failed)
    clearTimeout(late)
    resolve()
  }

  return {
    edits(keyId, outline, whole) {
      const references = referencesIn(outline)
      return references === undefined ? [] : resolve(keyId, references, whole)
    },
    open(keyId, { previous, input }, size) {
      const { stage } = answers()
      if (stage === undefined || size < LARGE) return keeping(keyId, previous, held(input), Promise.resolve(undefined))
      const giveBack = Array.isArray(input) ? undefined : lend([input.memory])
      return keeping(keyId, previous, [], stageInput(stage, input).finally(giveBack))
    },
    isShared,
    place(place) {
      places.push(place)
      if (places.length === 1) setTimeout(() => void writePlaces(), isShared ? AWAITED_MS : PLACES_MS).unref()
      return isShared ? written.promise : undefined
    },
    flush: writePlaces,
    placeOf: find,
    async answer(keyId, id) {
      const found = await find(keyId, id)
      if (found === undefined || found.place !== undefined) return undefined
      const { row } = found
      const [output, rest = ''] = await read([
        { row, part: 'output' },
        { row, part: 'rest' },
      ])
      return splice(rest, [{ path: ['output'], value: `[${output}]` }])
    },
    async input(keyId, id) {
      const found = await conversation(keyId, id)
      if (found === undefined) return undefined
      return (await read(found.flatMap(inputAndOutput).slice(0, -1))).flatMap(parsedItems)
    },
    async forget(keyId, id) {
      const isForgotten = await answers().forget(keyId, id)
      while (isForgotten && (await turns(PIECE_CHARS, () => answers().sweep(AT_ONCE))) > 0);
      return isForgotten
    },
  }
}

const inputAndOutput = ({ row }: KeptAnswer): PartOf[] => [
  { row, part: 'input' },
  { row, part: 'output' },
]

const parsedItems = (text: string): Json[] => {
  const list = parseObject(`{"items":[${text}]}`)?.items
  return Array.isArray(list) ? list : []
}

const inputPieces = (input: Rememberable['input']): Iterable<string[]> =>
  Array.isArray(input) ? inPieces(input) : fewOf(input.pieces)

/** What is written later lies in memory of its own: the request's is given back before. */
const held = (input: Rememberable['input']): Rememberable['input'] =>
  Array.isArray(input) ? input : { memory: new Uint8Array(), pieces: [...input.pieces] }

function* fewOf(pieces: Iterable<string>): Generator<string[]> {
  let few: string[] = []
  for (const piece of pieces) {
    few.push(piece)
    if (few.length < AT_ONCE) continue
    yield few
    few = []
  }
  if (few.length > 0) yield few
}

/** The items as text without brackets, cut into pieces: a few at a time. */
function* inPieces(items: readonly Json[]): Generator<string[]> {
  let text = ''
  for (const [at, item] of items.entries()) {
    text += (at === 0 ? '' : ',') + JSON.stringify(item)
    if (text.length < PIECE_CHARS) continue
    yield* fewOf(cut(text))
    text = ''
  }
  if (text !== '') yield* fewOf(cut(text))
}

/** Within no character: JSON text holds no other surrogates than pairs. */
const cut = (text: string): string[] => {
  const pieces: string[] = []
  for (let from = 0; from < text.length; ) {
    const end = from + PIECE_CHARS
    const isPair = end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800
    const to = isPair ? end - 1 : end
    pieces.push(text.slice(from, to))
    from = to
  }
  return pieces
}
