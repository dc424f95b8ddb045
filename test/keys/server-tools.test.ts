// Settings of tools at a vendor narrow each other, in whatever order they come.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { namedServerTools, serverToolName } from '../../src/ir/server-tools.ts'
import { allOf, isWithin, permitsTool, type ServerTools } from '../../src/keys/server-tools.ts'

const NAMES = ['web_search', 'mcp', 'code_execution', 'file_search', 'new_tool']
const setting: fc.Arbitrary<ServerTools> = fc.oneof(
  fc.constantFrom('all' as const, 'none' as const),
  fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1 }),
)

describe('what several settings allow', () => {
  test('is what each of them allows', () => {
    fc.assert(
      fc.property(fc.array(fc.option(setting, { nil: undefined })), fc.constantFrom(...NAMES), (settings, name) => {
        expect(permitsTool(allOf(settings), name)).toBe(settings.every((one = 'all') => permitsTool(one, name)))
      }),
    )
  })

  test('lies within each of them', () => {
    fc.assert(
      fc.property(fc.array(setting), (settings) => {
        for (const one of settings) expect(isWithin(allOf(settings), one)).toBe(true)
      }),
    )
  })

  test('one lies within another exactly where nothing is allowed by it alone', () => {
    fc.assert(
      fc.property(setting, setting, (inner, outer) => {
        const beside = [...NAMES, 'any_other'].some((name) => permitsTool(inner, name) && !permitsTool(outer, name))
        expect(isWithin(inner, outer)).toBe(!beside)
      }),
    )
  })
})

test.each([
  ['web_search_20250305', 'web_search'],
  ['web_search_preview', 'web_search'],
  ['web_search_preview_2025_03_11', 'web_search'],
  ['relay:web_search', 'web_search'],
  ['Web-Search', 'web_search'],
  ['code_interpreter', 'code_execution'],
  ['code_execution_20250825', 'code_execution'],
  ['mcp_toolset', 'mcp'],
  ['constructor', 'constructor'],
])('%s is the tool %s', (type, name) => {
  expect(serverToolName(type)).toBe(name)
  expect(namedServerTools([type, name])).toEqual([name])
})
