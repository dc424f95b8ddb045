// One cell of the matrix: a story played by a vendor on one wire and a client on another, through the listening gateway.

import { isObject, type JsonObject } from '../../../src/ir/json.ts'
import type { ChatWire } from '../../../src/ir/wire.ts'
import { PATHS } from '../../support/paths.ts'
import { sse } from '../../support/provider/scripted.ts'
import { adaptAnswer } from './adapt-answer.ts'
import type { Bench } from './bench.ts'
import { CLIENTS } from './client/index.ts'
import { exactly } from './exact.ts'
import { expectedLines, missing, receivedLines } from './received.ts'
import { settingFaults, type Waived } from './request-settings.ts'
import { answerFaults, requestFaults, streamFaults } from './rules.ts'
import { type ClientView, crossing, type Figures, type Story } from './story.ts'
import { VENDORS } from './vendor/index.ts'

export type Cell = { story: Story; client: ChatWire; vendor: ChatWire; stream: boolean }

/** The result of a cell. `faults` is empty where it passes. */
export type Outcome = {
  faults: string[]
  view?: ClientView
  dropped: string[]
  /** The refusal's message, where the gateway must refuse the story on this crossing. */
  refused?: string
}

/** Streams are sent in chunks of this many bytes, so that characters and frames are split. */
const SLICE = 97

export const runCell = async (bench: Bench, { story, client, vendor, stream }: Cell): Promise<Outcome> => {
  const body = CLIENTS[client].request(story.ask, bench.model(vendor, story.variant), stream)
  const pen = VENDORS[vendor]
  const own = client === vendor
  bench.play(vendor, (sent) => {
    const adapted = adaptAnswer(story.answer, vendor, sent)
    return stream ? sse(pen.stream(adapted), SLICE) : { steps: [pen.json(adapted)] }
  })
  const answer = await bench.gateway.post(PATHS[client], JSON.stringify(body))
  const text = await answer.text()
  const dropped = answer.headers.get('x-gateway-dropped')?.split(', ') ?? []
  const refused = story.refused?.[crossing(client, vendor)]
  if (refused !== undefined) return refusal(answer.status, text, refused, bench.sent(vendor).length)
  const faults: string[] = []
  if (answer.status !== 200) return { faults: [`status ${answer.status}: ${text}`], dropped }
  const due = story.dropped?.[crossing(client, vendor)] ?? []
  if (due.join() !== dropped.join()) faults.push(`dropped ${dropped.join()} where ${due.join()} is due`)
  faults.push(...sentFaults(bench, story, client, vendor))
  if (stream) faults.push(...streamFaults(client, text, own && story.lax?.includes(vendor)))
  let read: JsonObject
  try {
    read = await CLIENTS[client].gather(text, stream)
  } catch (error) {
    return { faults: [...faults, `the SDK: ${error}`], dropped }
  }
  if (!stream) faults.push(...answerFaults(client, JSON.parse(text)))
  if (read.model !== body.model) faults.push(`the model is ${read.model}`)
  if (!stream && story.verbatim !== undefined && !text.includes(story.verbatim))
    faults.push(`not in the answer: ${story.verbatim}`)
  const billed = sum(story.answer.usage)
  if (CLIENTS[client].total(read) !== billed)
    faults.push(`the client reads ${CLIENTS[client].total(read)} tokens of ${billed}`)
  faults.push(...(await ledgerFaults(bench, answer.headers.get('x-request-id') ?? '', story.answer.usage)))
  if (/vendor-secret/.test(text)) faults.push('the vendor’s own text reaches the client')
  return { faults, dropped, view: CLIENTS[client].viewOf(read) }
}

const refusal = (status: number, text: string, param: string, calls: number): Outcome => {
  const body: unknown = JSON.parse(text)
  const error = isObject(body) && isObject(body.error) ? body.error : {}
  const faults: string[] = []
  if (status !== 400 || error.code !== 'invalid_request') faults.push(`status ${status}: ${text.slice(0, 200)}`)
  if (error.param !== param) faults.push(`the refusal names ${error.param}, not ${param}`)
  if (calls > 0) faults.push('the vendor was called')
  return { faults, dropped: [], refused: String(error.message) }
}

const sentFaults = (bench: Bench, story: Story, client: ChatWire, vendor: ChatWire): string[] => {
  const [request] = bench.sent(vendor)
  if (request === undefined) return ['nothing reached the vendor']
  const sent = JSON.parse(request.text) as JsonObject
  const lost = missing(expectedLines(story.ask), receivedLines(vendor, exactly(request.text) as JsonObject))
  return [
    ...(client === vendor ? [] : requestFaults(vendor, sent)),
    ...(client === vendor ? [] : settingFaults(story.ask, vendor, sent, waived(story))),
    ...(client === vendor ? [] : unsupportedSent(story, vendor, request.text)),
    ...lost.map((line) => `the model was not shown: ${line}`),
  ]
}

/** Settings that the model's variant cannot receive. */
const waived = (story: Story): Waived => ({
  form: story.variant === 'no-forms',
  thought: story.variant === 'no-thought',
})

/** Features that the provider is configured to lack, and that were sent all the same. */
const unsupportedSent = ({ variant }: Story, vendor: ChatWire, text: string): string[] => {
  if (variant === 'no-custom' && vendor !== 'messages' && text.includes('"type":"custom'))
    return ['a custom tool was sent']
  if (variant === 'no-forms' && text.includes('"json_schema"')) return ['a schema was sent']
  return variant === 'no-thought' && /"(thinking|reasoning|reasoning_effort)":/.test(text)
    ? ['thinking was asked for']
    : []
}

const sum = ({ input, cacheRead = 0, cacheWrite = 0, output }: Figures): number =>
  input + cacheRead + cacheWrite + output

const ledgerFaults = async (bench: Bench, id: string, usage: Figures): Promise<string[]> => {
  await bench.gateway.idle()
  const [row] = await bench.gateway.server.gateway.store.exchanges({ limit: 1, id })
  if (row === undefined) return ['the ledger has no row']
  const due = [usage.input, usage.cacheRead ?? 0, usage.cacheWrite ?? 0, usage.output]
  const has = [row.input ?? 0, row.cacheRead ?? 0, row.cacheWrite ?? 0, row.output ?? 0]
  const faults = due.join() === has.join() ? [] : [`the ledger has ${has.join()} where the vendor says ${due.join()}`]
  if (row.outcome !== 'done' || row.estimated) faults.push(`the ledger: ${row.outcome}, estimated ${row.estimated}`)
  if ((usage.reasoning ?? 0) !== (row.reasoning ?? 0)) faults.push(`the ledger has ${row.reasoning} of reasoning`)
  return faults
}
