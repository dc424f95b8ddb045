// A client as data: the files of its own by which it is pointed at a gateway, and what goes into them.

export type Json = string | number | boolean | null | Json[] | JsonObject
export type JsonObject = { [name: string]: Json }
export type Path = readonly string[]

/**
 * What changes in a file: a member is set, or goes where the value is undefined. `own`: the member is a list, of which the
 * entries are ours whose `member` is `name`, or begins with it and a slash; those are replaced, the others stay.
 */
export type Edit = Change | ListChange
/** `absent`: only where there is none yet. `short`: the client takes a text in place of the group, which gives way. */
type Change = { at: Path; value: Json | undefined; absent?: true; short?: true }
export type ListChange = { at: Path; value: JsonObject[]; own: { member: string; name: string } }

/** `json` is read with comments and commas too many; `yaml-list` is a list, here called `entries`; `env`: lines of `NAME=value`. */
export type Format = 'json' | 'yaml' | 'yaml-list' | 'toml' | 'env'

/** A model as the gateway lists it. `reasons`: an effort of thought may be asked of it. */
export type Listed = {
  id: string
  provider: string
  context: number
  output: number
  images: boolean
  text: boolean
  reasons: boolean
}

/** `origin`: the gateway's address, without `/v1`. `small`: what a client uses beside its model for small work. */
export type Setup = { origin: string; key: string; main: Listed; small: Listed; models: readonly Listed[] }

/** Where somebody's files are. */
export type Home = { home: string; env: Readonly<Record<string, string | undefined>>; platform: NodeJS.Platform }

type ClientFile = {
  /** As it is told to people: `~/.codex/config.toml`. */
  shown: string
  path(home: Home): string
  format: Format
  /** Whether the key is in it. */
  secret: boolean
  edits(setup: Setup): Edit[]
}

export type Client = {
  /** As it is typed: `claude-code`. */
  name: string
  title: string
  wire: 'messages' | 'responses' | 'chat-completions'
  /** With which version this was last tried; absent: it was not. */
  tried?: { version: string; date: string }
  files: ClientFile[]
  /** Whether it has a place for a model for small work. */
  small?: true
  /** What starts it, with the models set here. */
  start(setup: Setup): string
  /** What else its user should know, a sentence each. */
  notes?: string[]
}
