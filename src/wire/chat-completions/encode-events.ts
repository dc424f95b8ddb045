// Events as a stream of this wire: chunks, the usage chunk if the client asked for it, and one end.

import type { ChatEvent, Finish } from '../../ir/event.ts'
import { isObject } from '../../ir/json.ts'
import { sequence } from '../../ir/sequence.ts'
import { type Usage, withPrompt } from '../../ir/usage.ts'
import type { Ask, EventEncoder } from '../codec.ts'
import { errorFrame } from '../pass.ts'
import type { Before } from '../seal.ts'
import { isPicture } from '../turns/drawn.ts'
import { encodeCitation, encodeLogprob, encodeVerdicts } from './annotations.ts'
import { encodeDetails, readsReasoning } from './assistant.ts'
import { encodeFinish } from './finish.ts'
import { tierOf } from './members.ts'
import { includeUsage } from './pass.ts'
import { responseId, wantsFunctionCall } from './response.ts'
import { encodeUsage } from './usage.ts'

export const encodeEvents = ({ body, ...ask }: Ask): EventEncoder => {
  const showUsage = includeUsage(body)
  const legacy = wantsFunctionCall(body)
  const twice = readsReasoning(body)
  const inOrder = sequence({ late: true })
  // All chunks begin and end with the same text: it is built once, so that a delta costs one template.
  let head = ''
  const tail = `${showUsage ? ',"usage":null' : ''}}\n\n`
  const open = `,"logprobs":null,"finish_reason":null}]${tail}`
  let ended = false
  let usage: Usage = {}
  let calls = 0
  let pictures = 0
  let refused = false
  let written = 0
  /** Where each text begins, and ends, once it has. */
  const texts = new Map<number, { from: number; to?: number }>()
  let thought: { text: string[]; full: boolean | undefined; before: Before } = {
    text: [],
    full: undefined,
    before: { text: 0, calls: 0 },
  }
  let call: { kind: 'function' | 'custom'; state: 'closed' | 'bare' | 'filled' } = { kind: 'function', state: 'closed' }

  const chunk = (delta: string): string => `${head}${delta}${open}`

  const begin = (id: string, createdAt: number | undefined): string => {
    const common = `"id":${JSON.stringify(responseId(id, ask))},"object":"chat.completion.chunk","created":${createdAt ?? ask.now}`
    head = `data: {${common},"model":${JSON.stringify(ask.model)},"system_fingerprint":null,"choices":[{"index":0,"delta":`
    return chunk('{"role":"assistant","content":"","refusal":null}')
  }

  const toolDelta = (text: string): string => {
    // The legacy form can hold only one call.
    if (legacy) return calls > 1 ? '' : chunk(`{"function_call":{"arguments":${JSON.stringify(text)}}}`)
    const member = call.kind === 'custom' ? '"custom":{"input":' : '"function":{"arguments":'
    return chunk(`{"tool_calls":[{"index":${calls - 1},${member}${JSON.stringify(text)}}}]}`)
  }

  /** Without any arguments, `{}` is sent: clients parse them as JSON. */
  const endCall = (): string => {
    const bare = call.kind === 'function' && call.state === 'bare'
    call.state = 'closed'
    return bare ? toolDelta('{}') : ''
  }

  const finish = ({ reason, usage: last, serviceTier, moderation }: Finish): string => {
    ended = true
    usage = { ...usage, ...last }
    const tier = tierOf(serviceTier)
    const tiered = tier === undefined ? '' : `,"service_tier":"${tier}"`
    const judged = moderation === undefined ? '' : `,${JSON.stringify(encodeVerdicts(moderation)).slice(1, -1)}`
    const why = encodeFinish(reason, { calls: calls > 0, refused, legacy })
    const closing = `${head}{},"logprobs":null,"finish_reason":"${why}"}]${tiered}${judged}${tail}`
    const prefix = head.slice(0, head.lastIndexOf(',"choices":'))
    const figures = showUsage
      ? `${prefix}${tiered},"choices":[],"usage":${JSON.stringify(encodeUsage(withPrompt(usage, ask.inputEstimate)))}}\n\n`
      : ''
    return `${endCall()}${closing}${figures}data: [DONE]\n\n`
  }

  const encode = (event: ChatEvent): string => {
    switch (event.type) {
      case 'text-delta': {
        written += event.text.length
        if (event.logprobs === undefined)
          return event.text === '' ? '' : chunk(`{"content":${JSON.stringify(event.text)}}`)
        const logprobs = JSON.stringify({ content: event.logprobs.map(encodeLogprob), refusal: null })
        return `${head}{"content":${JSON.stringify(event.text)}},"logprobs":${logprobs},"finish_reason":null}]${tail}`
      }
      case 'tool-delta':
        if (event.text === '' || call.state === 'closed') return ''
        call.state = 'filled'
        return toolDelta(event.text)
      case 'reasoning-delta': {
        if (event.text === '') return ''
        thought.text.push(event.text)
        const text = JSON.stringify(event.text)
        return chunk(`{"reasoning_content":${text}${twice ? `,"reasoning":${text}` : ''}}`)
      }
      case 'refusal-delta':
        return event.text === '' ? '' : chunk(`{"refusal":${JSON.stringify(event.text)}}`)
      case 'text-start':
        texts.set(event.part, { from: written })
        return ''
      case 'text-end':
        texts.set(event.part, { from: 0, ...texts.get(event.part), to: written })
        return ''
      case 'citation': {
        const { from, to = written } = texts.get(event.part) ?? { from: written }
        const annotations = encodeCitation(event.citation, from, to - from)
        return annotations.length === 0 ? '' : chunk(`{"annotations":${JSON.stringify(annotations)}}`)
      }
      case 'refusal-start':
        refused = true
        return ''
      case 'reasoning-start':
        thought = { text: [], full: event.full, before: { text: written, calls } }
        return ''
      case 'reasoning-end': {
        if (event.seal === undefined) return ''
        const { text } = thought
        const full = event.full ?? thought.full
        const part = { type: 'reasoning' as const, text: text.join(''), seal: event.seal }
        const details = encodeDetails(full === undefined ? part : { ...part, full }, thought.before)
        return chunk(`{"reasoning_details":${JSON.stringify(details)}}`)
      }
      case 'tool-start': {
        const { id, name, kind } = event
        const before = endCall()
        call = { kind, state: 'bare' }
        if (legacy)
          return calls++ > 0 ? before : before + chunk(JSON.stringify({ function_call: { name, arguments: '' } }))
        const body = kind === 'custom' ? { custom: { name, input: '' } } : { function: { name, arguments: '' } }
        return before + chunk(JSON.stringify({ tool_calls: [{ index: calls++, id, type: kind, ...body }] }))
      }
      case 'tool-end':
        return endCall()
      case 'opaque': {
        const { origin, value } = event.value
        if (origin !== 'chat-completions') return ''
        if (isPicture(value)) return chunk(JSON.stringify({ images: [{ index: pictures++, ...value }] }))
        return isObject(value.audio) ? chunk(JSON.stringify({ audio: value.audio })) : ''
      }
      case 'usage':
        usage = { ...usage, ...event.usage }
        return ''
      case 'finish':
        return finish(event)
      case 'error':
        ended = true
        return errorFrame(event.error)
      default:
        return ''
    }
  }

  return {
    push: (event) => {
      if (ended) return ''
      let out = ''
      if (event.type === 'start') {
        if (head !== '') return ''
        usage = { ...usage, ...event.usage }
        return begin(event.id, event.createdAt)
      }
      if (head === '' && ('part' in event || event.type === 'finish')) out = begin('', undefined)
      for (const one of inOrder(event)) out += encode(one)
      return out
    },
  }
}
