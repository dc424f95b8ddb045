// The tool that a call is for, however its model has written the name: the only one it can mean, or none.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { fold } from '../../../src/ir/fold.ts'
import type { JsonObject } from '../../../src/ir/json.ts'
import type { SentTool, Undo } from '../../../src/wire/codec.ts'
import { CHAT_CODECS } from '../../../src/wire/index.ts'
import { sentAs, toolHeard } from '../../../src/wire/tools/heard.ts'
import { decodeAll } from '../../support/frames.ts'

const fn = (name: string, namespace?: string): SentTool =>
  namespace === undefined ? { name, kind: 'function' } : { name, namespace, kind: 'function' }

/** Sent in one flat name, as on the wires without namespaces. */
const flat = (...tools: SentTool[]): Undo => ({
  tools: Object.fromEntries(tools.map((tool) => [[tool.namespace, tool.name].filter(Boolean).join('__'), tool])),
})
/** Sent in namespaces, as on the responses wire. */
const spaced = (...tools: SentTool[]): Undo => ({
  tools: Object.fromEntries(tools.map((tool) => [sentAs(tool.name, tool.namespace), tool])),
})

const look = fn('look', 'mcp__shelf')
const bend: SentTool = { name: 'bend', kind: 'custom' }
const heard = (name: string, undo: Undo, namespace?: string) => toolHeard({ name, namespace, kind: 'function' }, undo)

describe('a name that can mean one tool only is that tool', () => {
  test.each<[string, string, string | undefined, SentTool]>([
    ['as it was sent', 'mcp__shelf__look', undefined, look],
    ['with a dot for the joint', 'mcp__shelf.look', undefined, look],
    ['with a slash for the joint', 'mcp__shelf/look', undefined, look],
    ['in the namespace', 'look', 'mcp__shelf', look],
    ['in the container of all functions', 'mcp__shelf__look', 'functions', look],
    ['behind that container', 'functions.mcp__shelf__look', undefined, look],
    ['behind two of them', 'functions.functions.bend', undefined, bend],
    ['behind the prefix of other clients’ servers', 'mcp__bend', undefined, bend],
    ['behind that container, flat', 'functions__bend', undefined, bend],
    ['in a namespace of its own name', 'bend', 'bend', bend],
    ['in a namespace that no tool has', 'bend', 'std', bend],
    ['behind such a namespace', 'std.bend', undefined, bend],
    ['by its bare name', 'look', undefined, look],
    ['by the end of its name', 'shelf.look', undefined, look],
    ['in another case', 'Bend', undefined, bend],
    ['with the number of the call', 'functions.bend:0', undefined, bend],
    ['with a mark of the model’s', 'bend<|channel|>commentary', undefined, bend],
  ])('%s', (_, name, namespace, due) => {
    for (const undo of [flat(look, bend), spaced(look, bend)]) expect(heard(name, undo, namespace)).toEqual(due)
  })

  test.each<[string, string, string | undefined, SentTool[]]>([
    ['the bare name of tools in several namespaces', 'look', undefined, [look, fn('look', 'mcp__attic')]],
    ['a name that no tool has', 'lock', undefined, [look, bend]],
    ['a tool that its namespace does not have', 'bend', 'mcp__shelf', [look, bend]],
    ['the same, flat', 'mcp__shelf__bend', undefined, [look, bend]],
    ['a name behind another that is no namespace', 'attic__bend', undefined, [look, bend]],
    ['two names that differ in case', 'BEND', undefined, [fn('bend'), fn('Bend')]],
    ['no name', '', undefined, [bend]],
    ['a member that every object has', 'constructor', undefined, [bend]],
    ['nothing but joints', '__', undefined, [bend]],
  ])('but %s means none', (_, name, namespace, tools) => {
    for (const undo of [flat(...tools), spaced(...tools)]) expect(heard(name, undo, namespace)).toBeUndefined()
  })

  test('of a function and a tool of free text of one bare name, it is the one of the call’s kind', () => {
    const undo = spaced(fn('cut', 'a'), { name: 'cut', namespace: 'b', kind: 'custom' })
    expect(toolHeard({ name: 'cut', kind: 'custom' }, undo)).toMatchObject({ namespace: 'b' })
    expect(toolHeard({ name: 'cut', kind: 'function' }, undo)).toMatchObject({ namespace: 'a' })
  })

  test('the tool for structured output is heard as one of them', () => {
    expect(heard('functions.json', { jsonTool: 'json' })).toBe('answer')
    expect(heard('json', { jsonTool: 'json', ...flat(bend) })).toBe('answer')
  })
})

const word = fc.stringMatching(/^[a-z]{1,4}$/)
const tool = fc
  .tuple(word, fc.option(word, { nil: undefined }), fc.constantFrom('function' as const, 'custom' as const))
  .map(([name, namespace, kind]): SentTool => (namespace === undefined ? { name, kind } : { name, namespace, kind }))
const tools = fc.uniqueArray(tool, {
  minLength: 1,
  maxLength: 6,
  selector: ({ name, namespace }) => sentAs(name, namespace),
})

test('every tool is heard by the name it was sent under, whatever others there are', () =>
  fc.assert(
    fc.property(tools, (list) => {
      for (const undo of [flat(...list), spaced(...list)])
        for (const [sent, one] of Object.entries(undo.tools ?? {})) expect(heard(sent, undo)).toBe(one)
    }),
  ))

test('whatever is heard, the answer is a tool of the request or none, and does not depend on their order', () =>
  fc.assert(
    fc.property(
      tools,
      fc.stringMatching(/^[a-zA-Z_.:/<|-]{0,8}$/),
      fc.option(word, { nil: undefined }),
      (list, name, space) => {
        const one = heard(name, flat(...list), space)
        expect(one === undefined || list.includes(one as SentTool)).toBe(true)
        expect(heard(name, flat(...list.toReversed()), space)).toBe(one)
      },
    ),
    { numRuns: 500 },
  ))

describe('a name in pieces', () => {
  const undo = flat(look, bend, fn('bend_over'))
  const chunk = (entry: JsonObject) => ({
    data: JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...entry }] } }] }),
  })
  const END = [
    { data: '{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}' },
    { data: '[DONE]' },
  ]
  const callOf = (pieces: string[], input: string) => {
    const entries = pieces.map((name, at) =>
      chunk({ ...(at === 0 ? { id: 'x' } : {}), function: { name, arguments: '' } }),
    )
    const frames = [...entries, chunk({ function: { arguments: input } }), ...END]
    return fold(decodeAll(CHAT_CODECS['chat-completions'].decodeEvents(undo), frames)).parts
  }

  test('is read whole, wherever it is cut', () =>
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.keys(undo.tools ?? {}), 'functions.bend', 'mcp__shelf.look'),
        fc.array(fc.nat(16), { maxLength: 3 }),
        (name, cuts) => {
          const at = [0, ...cuts.filter((cut) => cut < name.length).sort((a, b) => a - b), name.length]
          const pieces = at.slice(1).map((end, nth) => name.slice(at[nth], end))
          const due = toolHeard({ name, kind: 'function' }, undo)
          expect(
            callOf(
              pieces.filter((piece) => piece !== ''),
              '{"input":"a"}',
            ),
          ).toMatchObject([{ type: 'tool-call', id: 'x', ...(due as SentTool) }])
        },
      ),
    ))

  test('and one that is told whole with every chunk stays one', () => {
    expect(callOf(['bend', 'bend'], '{"input":"a"}')).toMatchObject([{ name: 'bend', kind: 'custom', input: 'a' }])
    expect(callOf(['be', 'bend_over'], '{}')).toMatchObject([{ name: 'bend_over', kind: 'function', input: '{}' }])
  })
})

describe('each kind of call becomes its kind of tool', () => {
  const free: Undo = { tools: { bend } }
  const item = { type: 'function_call', call_id: 'c', id: 'fc_1', name: 'functions.bend', arguments: '{"input":"a b"}' }

  test('a function’s call of a tool of free text is the text, as JSON and as a stream', () => {
    const response = { id: 'r', status: 'completed', output: [item] }
    const due = [{ type: 'tool-call', name: 'bend', kind: 'custom', input: 'a b' }]
    const { decodeResponse, decodeEvents } = CHAT_CODECS.responses
    expect(decodeResponse(response, free).parts).toMatchObject(due)
    const frames = [
      { type: 'response.created', response: { id: 'r' } },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '' } },
      { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"input":"a' },
      { type: 'response.function_call_arguments.delta', output_index: 0, delta: ' b"}' },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response },
    ]
    const events = decodeAll(
      decodeEvents(free),
      frames.map((data) => ({ data: JSON.stringify(data) })),
    )
    expect(fold(events).parts).toMatchObject(due)
  })

  test('a name that comes with the end of an item is the call’s', () => {
    const frames = [
      { type: 'response.output_item.added', output_index: 0, item: { ...item, name: '', arguments: '' } },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { id: 'r', status: 'completed', output: [] } },
    ]
    const events = decodeAll(
      CHAT_CODECS.responses.decodeEvents(free),
      frames.map((data) => ({ data: JSON.stringify(data) })),
    )
    expect(fold(events).parts).toMatchObject([{ name: 'bend', kind: 'custom', input: 'a b' }])
  })
})
