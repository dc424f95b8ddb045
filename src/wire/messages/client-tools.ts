// Tools that this wire's vendor defines and the client carries out, as functions for models of other vendors.

import type { JsonObject } from '../../ir/json.ts'

type Definition = { description: string; schema: JsonObject }

const text = (description: string): JsonObject => ({ type: 'string', description })

/** The arguments that the editor and the memory tool share. */
const EDITS: JsonObject = {
  view_range: {
    type: 'array',
    items: { type: 'integer' },
    description: 'With view: the first and the last line to show, counted from 1; -1 for the last of the file.',
  },
  file_text: text('With create: what the file is to hold.'),
  old_str: text('With str_replace: the text to be replaced, to the letter.'),
  insert_line: {
    type: 'integer',
    description: 'With insert: the line behind which to insert, 0 for the beginning.',
  },
}

const BASH: Definition = {
  description:
    'Runs a command in a bash session that lasts: its folder, variables and files stay from one command to the next.',
  schema: {
    type: 'object',
    properties: {
      command: text('The command to run. Needed unless restart is true.'),
      restart: { type: 'boolean', description: 'True: begin the session anew, without a command.' },
    },
  },
}

const editor = (commands: string[], more: string): Definition => ({
  description: `Views and edits text files. view shows a file with its lines numbered, or a folder; create writes a new file; str_replace puts new_str in the place of old_str, which must stand in the file exactly once; insert puts a text behind the line insert_line.${more}`,
  schema: {
    type: 'object',
    properties: {
      command: { type: 'string', enum: commands },
      path: text('The absolute path of the file or folder.'),
      ...EDITS,
      new_str: text(
        'With str_replace: the text in its place. With insert: the text to insert, the same as insert_text.',
      ),
      // The name differs between versions of the tool, so the model is to give the text under both.
      insert_text: text('With insert: the text to insert, the same as new_str.'),
    },
    required: ['command', 'path'],
  },
})

const MEMORY: Definition = {
  description:
    'Keeps notes in files under /memories, which outlast this conversation. View /memories before anything else, for earlier work may stand there; write down what a later conversation will need. view shows a file or the folder; create writes a file; str_replace puts new_str in the place of old_str; insert puts insert_text behind the line insert_line; delete removes a file or folder; rename moves old_path to new_path.',
  schema: {
    type: 'object',
    properties: {
      command: { type: 'string', enum: ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'] },
      path: text('The path of the file or folder, under /memories. Needed for all but rename.'),
      ...EDITS,
      new_str: text('With str_replace: the text in its place.'),
      insert_text: text('With insert: the text to insert.'),
      old_path: text('With rename: the path as it is.'),
      new_path: text('With rename: the path as it is to be.'),
    },
    required: ['command'],
  },
}

const EDITOR = editor(['view', 'create', 'str_replace', 'insert'], '')
/** Versions up to 2025-01 could undo their last edit. */
const OLD_EDITOR = editor(
  ['view', 'create', 'str_replace', 'insert', 'undo_edit'],
  ' undo_edit takes back the last edit of the file.',
)

const DEFINITIONS: readonly [RegExp, Definition][] = [
  [/^bash_\d+$/, BASH],
  [/^text_editor_202(?:410|501)\d+$/, OLD_EDITOR],
  [/^text_editor_\d+$/, EDITOR],
  [/^memory_\d+$/, MEMORY],
]

/** The definition for a tool's type; undefined for tools the vendor runs. Source: the vendor's tool documents, 2026-11. */
export const definitionOf = (type: string): Definition | undefined =>
  DEFINITIONS.find(([types]) => types.test(type))?.[1]
