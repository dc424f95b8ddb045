// `complete SHELL`: a script for the shell, which asks `complete -- WORDS` for what may follow. Both are of the same tree of
// commands as the help.

import { RootCommand } from '@bomb.sh/tab'
import { type Command, commandsIn, type Group } from './command.ts'
import { EXIT, type Io, usageError } from './io.ts'

const SHELLS = ['bash', 'zsh', 'fish', 'powershell']

/** What tells the shells' scripts to complete the names of files, and to complete none. */
const [FILES, NO_FILES] = [':0', ':4']

/** `entries`: the tree, asked for when it is whole. */
export const complete = (entries: () => (Command | Group)[]): Command => ({
  name: 'complete',
  summary: `Print completions for a shell: ${SHELLS.join(', ')}`,
  args: { shell: { type: 'positional', description: `One of ${SHELLS.join(', ')}` } },
  words: { shell: SHELLS },
  examples: ['source <(sluice complete bash)', 'sluice complete fish > ~/.config/fish/completions/sluice.fish'],
  run: async ([first, ...words], io) => {
    if (first === '--') return answer(entries(), words, io)
    if (first === undefined || words.length > 0 || !SHELLS.includes(first)) {
      throw usageError(`Name the shell to complete in: ${SHELLS.join(', ')}.`)
    }
    if (first === 'bash') io.out(BASH)
    else for (const line of said(() => new RootCommand().setup('sluice', 'sluice', first))) io.out(line)
    return EXIT.ok
  },
})

type Named = Pick<Command, 'summary' | 'args' | 'words'>

const answer = (entries: (Command | Group)[], words: string[], io: Io): number => {
  const root = new RootCommand()
  /** The flag whose value is asked for: before it, or in one word with it. */
  const [, flag = words.at(-2) ?? ''] = /^(--[^=]+)=/.exec(words.at(-1) ?? '') ?? []
  let files = false
  // Groups too, so that their names are completed.
  const named = entries.flatMap((entry): { path: string; command: Named }[] => [
    ...('commands' in entry ? [{ path: entry.name, command: { summary: entry.summary, args: {}, words: {} } }] : []),
    ...commandsIn([entry]),
  ])
  for (const {
    path,
    command: { summary, args, words: known },
  } of named) {
    const command = root.command(path, summary)
    for (const [name, arg] of Object.entries(args)) {
      const description = arg.description ?? ''
      const values = known[name] ?? (arg.type === 'enum' ? arg.options : undefined) ?? []
      const tell = (found: (value: string, description: string) => void): void => {
        for (const value of values) found(value, '')
      }
      if (arg.type === 'positional') values.length === 0 ? command.argument(name) : command.argument(name, tell)
      else if (arg.type === 'boolean') command.option(name, description)
      else command.option(name, description, tell)
      files ||= flag === `--${name}` && (arg.valueHint === 'FILE' || arg.valueHint === 'DIR')
    }
    files ||= 'file' in args && path === words.slice(0, -1).join(' ')
  }
  for (const line of said(() => root.parse(words))) io.out(line === NO_FILES && files ? FILES : line)
  return EXIT.ok
}

/**
 * The library's own script needs what bash-completion brings, which many systems do not have, fails when it is sourced again,
 * and runs what stands in the line. The last line of an answer is `FILES` or `NO_FILES`; bash before version 4 has no `compopt`.
 */
const BASH = `# bash completion for sluice

__sluice_complete() {
    local cur prev words cword out i
    if declare -F _get_comp_words_by_ref >/dev/null; then
        _get_comp_words_by_ref -n "=:" cur prev words cword
    else
        # A flag, its sign and its value are words of their own.
        words=() cword=-1
        for ((i = 0; i <= COMP_CWORD; i++)); do
            if [[ $i -gt 1 && ( \${COMP_WORDS[i]} == = || \${COMP_WORDS[i - 1]} == = ) ]]; then
                words[cword]+=\${COMP_WORDS[i]}
            else
                words[++cword]=\${COMP_WORDS[i]}
            fi
        done
        cur=\${words[cword]}
    fi
    out=$(sluice complete -- "\${words[@]:1:cword}" 2>/dev/null) || return
    if [[ \${out##*$'\\n'} == ${FILES} ]]; then
        compopt -o default 2>/dev/null
    fi
    [[ $cur == --*=* && $COMP_WORDBREAKS == *=* ]] && cur=\${cur#*=}
    local IFS=$'\\n' line names=()
    while read -r line; do
        [[ $line == :* ]] || names+=("\${line%%$'\\t'*}")
    done <<< "$out"
    COMPREPLY=($(compgen -W "\${names[*]}" -- "$cur"))
}

complete -F __sluice_complete sluice`

/** What the library says, which writes to the console. */
const said = (speak: () => void): string[] => {
  const lines: string[] = []
  const { log } = console
  console.log = (line: string) => void lines.push(line)
  try {
    speak()
  } finally {
    console.log = log
  }
  return lines
}
