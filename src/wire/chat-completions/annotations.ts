// Citations and log probabilities of a text, both ways, and the moderation results of an answer.

import type { Moderation } from '../../ir/event.ts'
import { asList, asObjects, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { Citation, Logprob, TokenLogprob } from '../../ir/part.ts'
import { encodeModeration } from '../moderation.ts'

export const decodeCitations = (annotations: Json | undefined): Citation[] => asObjects(annotations).map(decodeCitation)

/** Sources that some servers list for the whole answer: its text cites all of them. */
export const decodeSources = (body: JsonObject): Citation[] =>
  (sourcesIn(body).find((list) => list.length > 0) ?? []).flatMap(decodeSource)

/** Whether there are any: later chunks may have the members with nothing in them. */
export const namesSources = (body: JsonObject): boolean =>
  (body.search_results ?? body.web_search ?? body.search_info ?? body.citations) !== undefined &&
  sourcesIn(body).some((list) => list.length > 0)

const sourcesIn = ({
  search_results: found,
  web_search: searched,
  search_info: info,
  citations,
}: JsonObject): Json[][] => [found, searched, isObject(info) ? info.search_results : undefined, citations].map(asList)

const decodeSource = (source: Json): Citation[] => {
  const { title, link, url = link } = isObject(source) ? source : { url: source, title: undefined }
  if (typeof url !== 'string' || !/^https?:/.test(url)) return []
  return [typeof title === 'string' && title !== '' ? { kind: 'url', url, title } : { kind: 'url', url }]
}

const decodeCitation = (raw: JsonObject): Citation => {
  const { url_citation: cited } = raw
  if (raw.type !== 'url_citation' || !isObject(cited) || typeof cited.url !== 'string') {
    return { kind: 'opaque', origin: 'chat-completions', value: raw }
  }
  const citation: Citation = { kind: 'url', url: cited.url }
  if (typeof cited.title === 'string' && cited.title !== '') citation.title = cited.title
  if (typeof cited.start_index === 'number') citation.start = cited.start_index
  if (typeof cited.end_index === 'number') citation.end = cited.end_index
  return citation
}

/**
 * Empty for a citation that only another wire has. `offset`: characters of the joined text before the part's own, which
 * has `length`: a citation without a range covers all of it.
 */
export const encodeCitation = (citation: Citation, offset: number, length: number): JsonObject[] => {
  if (citation.kind === 'opaque') return citation.origin === 'chat-completions' ? [citation.value] : []
  const { url, title = '', start = 0, end = length } = citation
  return [{ type: 'url_citation', url_citation: { start_index: start + offset, end_index: end + offset, title, url } }]
}

export const decodeLogprobs = (content: Json | undefined): Logprob[] =>
  asObjects(content).flatMap((raw) => {
    const token = decodeToken(raw)
    if (token === undefined) return []
    return [{ ...token, top: asObjects(raw.top_logprobs).flatMap((one) => decodeToken(one) ?? []) }]
  })

const decodeToken = ({ token, logprob, bytes }: JsonObject): TokenLogprob | undefined => {
  if (typeof token !== 'string' || typeof logprob !== 'number') return undefined
  const known = bytes === null || (Array.isArray(bytes) && bytes.every((one) => typeof one === 'number'))
  return known ? { token, logprob, bytes: bytes as number[] | null } : { token, logprob }
}

export const encodeLogprob = ({ top, ...token }: Logprob): JsonObject => ({
  ...encodeToken(token),
  top_logprobs: top.map(encodeToken),
})

const encodeToken = ({ token, logprob, bytes = null }: TokenLogprob): JsonObject => ({ token, logprob, bytes })

export const encodeVerdicts = (moderation: Moderation | undefined): { moderation?: JsonObject } =>
  encodeModeration(moderation, ({ model = '' }, results) => ({ type: 'moderation_results', model, results }))

/** The same within a text that so many characters stand before. Of one that belongs to a text before, no place is told. */
export const placedIn = (citation: Citation, before: number): Citation => {
  if (before === 0 || citation.kind !== 'url' || citation.start === undefined || citation.end === undefined)
    return citation
  const { start, end, ...rest } = citation
  return start < before ? rest : { ...rest, start: start - before, end: end - before }
}
