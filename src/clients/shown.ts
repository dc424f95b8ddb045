// What goes into a client's files, as text for people: in guides and on the dashboard.

import type { Client, Setup } from './client.ts'
import { edited } from './edit.ts'

/** Each of its files as it is where there was none. */
export const filesFor = ({ files }: Client, setup: Setup): { shown: string; text: string }[] =>
  files.map(({ shown, format, edits }) => {
    const set = edits(setup).filter(({ value }) => value !== undefined)
    return { shown, text: edited(format, '', set).trimEnd() }
  })
