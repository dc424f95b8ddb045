// Recorded vendor exchanges from the corpus beside the repository, to be played back by a scripted provider.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { type Handler, type Script, slices } from './scripted.ts'

const CORPUS = new URL('../../../../shared/corpus/', import.meta.url)

/** False where the corpus is not there: what needs it skips, and says so. */
export const hasCorpus = existsSync(CORPUS)

export type Recording = {
  /** `<wire folder>/<case>`. */
  name: string
  status: number
  stream: boolean
  features: string[]
  request: unknown
  /** The body's exact bytes. */
  response: Uint8Array
}

export type CorpusWire = 'messages' | 'chat' | 'responses' | 'images' | 'count_tokens' | 'responses_input_tokens'

const readJson = (url: URL): unknown => (existsSync(url) ? JSON.parse(readFileSync(url, 'utf8')) : undefined)

export const readRecording = (name: string): Recording => {
  const folder = new URL(`${name}/`, CORPUS)
  const meta = readJson(new URL('meta.json', folder)) as { status: number; stream: boolean; features: string[] }
  const body = existsSync(new URL('response.sse', folder)) ? 'response.sse' : 'response.json'
  return {
    name,
    status: meta.status,
    stream: body === 'response.sse',
    features: meta.features,
    request: readJson(new URL('request.json', folder)),
    response: new Uint8Array(readFileSync(new URL(body, folder))),
  }
}

/** Every case of a wire, by name; none where the corpus is not there. */
export const recordings = (wire: CorpusWire): Recording[] =>
  hasCorpus
    ? readdirSync(new URL(`${wire}/`, CORPUS))
        .sort()
        .map((name) => readRecording(`${wire}/${name}`))
    : []

/** A JSON schema of the corpus, `AnthropicMessage.current` for instance. */
export const corpusSchema = (name: string): object => readJson(new URL(`schemas/${name}.schema.json`, CORPUS)) as object

/** Answers every request with the recording, its bytes cut into slices of `size`. */
export const replay = (recording: Recording, size = Number.POSITIVE_INFINITY): Handler => {
  const contentType = recording.stream ? 'text/event-stream; charset=utf-8' : 'application/json'
  const script: Script = {
    status: recording.status,
    headers: { 'content-type': contentType },
    steps: slices(recording.response, size),
  }
  return () => script
}
