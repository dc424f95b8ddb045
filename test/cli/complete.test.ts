// What shells are told may follow.

import { afterAll, expect, test } from 'bun:test'
import { COMMANDS } from '../../src/cli/run.ts'
import { openTerminal } from './terminal.ts'

const terminal = openTerminal()
afterAll(() => terminal.close())

const NAMES = COMMANDS.map(({ name }) => name)

/** The names that may follow, and whether files may. */
const follows = async (...words: string[]): Promise<{ names: string[]; files: boolean }> => {
  const { out, code } = await terminal.type('complete', '--', ...words)
  expect(code).toBe(0)
  const lines = out.split('\n')
  const names = lines.slice(0, -1).map((line) => line.split('\t')[0] ?? '')
  return { names, files: lines.at(-1) === ':0' }
}

test.each<[string[], string[], boolean]>([
  [[''], NAMES, false],
  [['ver'], ['version'], false],
  [['keys', 'ro'], ['rotate'], false],
  [['usage', '--by', ''], ['model', 'key', 'member', 'team', 'account', 'provider', 'tag', 'day'], false],
  [['keys', 'list', '--js'], ['--json'], false],
  [['config', 'check', '--config', ''], [], true],
  [['backup', ''], [], true],
  [['serve', '--data', 'x'], [], true],
  [['serve', '--data=x'], [], true],
  [['keys', 'create', '--label', ''], [], false],
  [['keys', 'create', '--renews', ''], ['day', 'week', 'month', 'never'], false],
  [['connect', 'co'], ['codex', 'continue', 'copilot-cli'], false],
  [['config', 'init', '--preset', 'an'], ['anthropic'], false],
  [['config', 'set', 'a'], ['aliases'], false],
  [['complete', ''], ['bash', 'zsh', 'fish', 'powershell'], false],
  [['nonsense', ''], [], false],
])('after %j: %j, files %p', async (words, names, files) => {
  expect(await follows(...words)).toEqual({ names, files })
})

test('every command and every flag is among them', async () => {
  for (const entry of COMMANDS) {
    const commands = 'commands' in entry ? entry.commands : [entry]
    const group = 'commands' in entry ? [entry.name] : []
    if (group.length > 0) expect((await follows(...group, '')).names).toEqual(commands.map(({ name }) => name))
    for (const { name, args } of commands) {
      const flags = Object.entries(args).filter(([, { type }]) => type !== 'positional')
      expect((await follows(...group, name, '--')).names).toEqual(flags.map(([flag]) => `--${flag}`))
    }
  }
})

test.each([[[]], [['tcsh']], [['bash', 'zsh']]])('complete %j names the shells there are', async (words: string[]) => {
  const { code, err } = await terminal.type('complete', ...words)
  expect([code, err]).toEqual([2, 'Name the shell to complete in: bash, zsh, fish, powershell.'])
})

test.skipIf(Bun.which('bash') === null).each([
  ['with bash-completion', '_get_comp_words_by_ref() { cur=re; prev=keys; words=(sluice keys re); cword=2; }'],
  ['without it', 'COMP_WORDS=(sluice keys re) COMP_CWORD=2'],
])('bash takes the script, twice and %s, and shows what may follow', async (_, begin) => {
  const { out } = await terminal.type('complete', 'bash')
  const answer = (await terminal.type('complete', '--', 'keys', 're')).out
  const asked = 'sluice() { [[ "$*" == "complete -- keys re" ]] && echo "$ANSWER"; }'
  const script = [begin, asked, out, out, '__sluice_complete; declare -p COMPREPLY'].join('\n')
  const shell = Bun.spawn(['bash', '-c', script], { env: { ANSWER: answer }, stdout: 'pipe', stderr: 'pipe' })
  expect(await new Response(shell.stdout).text()).toBe('declare -a COMPREPLY=([0]="revoke")\n')
  expect(await new Response(shell.stderr).text()).toBe('')
})

test.skipIf(Bun.which('bash') === null).each([
  ['with bash-completion', '_get_comp_words_by_ref() { cur=--by=m; words=(sluice usage --by=m); cword=2; }'],
  ['without it', 'COMP_WORDS=(sluice usage --by = m) COMP_CWORD=4'],
])('bash shows what may follow a flag and its sign, %s', async (_, begin) => {
  const { out } = await terminal.type('complete', 'bash')
  const answer = (await terminal.type('complete', '--', 'usage', '--by=m')).out
  const asked = 'sluice() { [[ "$*" == "complete -- usage --by=m" ]] && echo "$ANSWER"; }'
  const script = [`COMP_WORDBREAKS='='`, begin, asked, out, '__sluice_complete; declare -p COMPREPLY'].join('\n')
  const shell = Bun.spawn(['bash', '-c', script], { env: { ANSWER: answer }, stdout: 'pipe', stderr: 'pipe' })
  expect(await new Response(shell.stdout).text()).toBe('declare -a COMPREPLY=([0]="model" [1]="member")\n')
  expect(await new Response(shell.stderr).text()).toBe('')
})

test.skipIf(Bun.which('bash') === null)('bash runs nothing of what stands in the line', async () => {
  const { out } = await terminal.type('complete', 'bash')
  const words = `COMP_WORDS=(sluice keys '$(echo ran >&2)' '') COMP_CWORD=3`
  const script = ['sluice() { echo :4; }', out, words, '__sluice_complete'].join('\n')
  // It would warn of a language that the machine has not.
  const env = { ...process.env, LC_ALL: 'C' }
  const shell = Bun.spawn(['bash', '-c', script], { env, stdout: 'pipe', stderr: 'pipe' })
  expect(await new Response(shell.stderr).text()).toBe('')
})
