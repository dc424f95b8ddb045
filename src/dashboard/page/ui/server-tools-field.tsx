// Which tools that run at a vendor a key or a member may use, as a line of text.

import type { ServerTools } from '../../../admin-api/schema.ts'
import { Text } from './fields.tsx'

export const toolsField = (tools: ServerTools): string => (typeof tools === 'string' ? tools : tools.join(', '))

/** Throws what to write where it is neither a word nor names. */
export const needTools = (text: string): ServerTools => {
  const written = text.trim().toLowerCase()
  if (written === '' || written === 'all') return 'all'
  if (written === 'none') return 'none'
  const names = written.split(/[\s,]+/).filter((name) => name !== '')
  if (names.every((name) => /^[a-z][a-z0-9_:-]*$/.test(name) && name !== 'all' && name !== 'none')) return names
  throw new Error('Tools at the vendor: write all, none, or names such as web_search, mcp.')
}

export const ServerToolsField = ({ value, onChange }: { value: string; onChange: (text: string) => void }) => (
  <Text
    label="Tools at the vendor"
    value={value}
    onChange={onChange}
    placeholder="all"
    hint="all, none, or names such as web_search, mcp"
  />
)
