// How each coding agent is started for one task without anyone at the keyboard: its program, its words, and what of its
// surroundings it needs.

/** What the task's file says. */
export const SECRET = 'lock-4711'

/** What the demo's models are told, so that they call the agent's tool for commands, by its name. */
const ask = (tool: string): string => `Use ${tool}: "cat note.txt"`

export type Drive = {
  program: string
  /** `at`: where the model stands among those that it was told of. */
  words(model: string, at: number): string[]
  env?: Record<string, string>
  /** A file of its home in place of what `connect` writes. */
  file?: { path: string; text(url: string, model: string, key: string): string }
  /** Of one that `connect` does not know, where its name here is not its title. */
  title?: string
  /** What `connect` calls it, where that is not its name here. */
  as?: string
  /** It is asked to search the web, of vendors that can. */
  searches?: true
  /** Its credential in the environment. */
  key?: string
}

export const DRIVES = {
  'claude-code': {
    program: 'claude',
    words: () => ['-p', ask('Bash'), '--dangerously-skip-permissions'],
    // Without it this flag is refused to root.
    env: { IS_SANDBOX: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
  },
  codex: {
    program: 'codex',
    words: () => ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', ask('exec_command')],
  },
  'codex, built-in provider': {
    program: 'codex',
    words: () => ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', ask('exec_command')],
    file: {
      path: '.codex/config.toml',
      text: (url, model) => `model = "${model}"\nopenai_base_url = "${url}/v1"\n`,
    },
    key: 'CODEX_API_KEY',
  },
  'claude-code, web search': {
    program: 'claude',
    as: 'claude-code',
    searches: true,
    words: () => ['-p', 'Search the web for canal locks', '--dangerously-skip-permissions'],
    env: { IS_SANDBOX: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
  },
  'codex, web search': {
    program: 'codex',
    as: 'codex',
    searches: true,
    words: () => [
      ...['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '-c', 'web_search="live"'],
      'Search the web for canal locks',
    ],
  },
  opencode: { program: 'opencode', words: () => ['run', ask('bash')] },
  pi: { program: 'pi', words: () => ['-p', ask('bash')] },
  'qwen-code': { program: 'qwen', words: () => ['--yolo', '-p', ask('run_shell_command')] },
  cline: { program: 'cline', words: () => ['--yolo', ask('run_commands')] },
  continue: { program: 'cn', words: () => ['--auto', '-p', ask('Bash')] },
  aider: {
    program: 'aider',
    words: () => ['--yes-always', '--no-check-update', '--no-analytics', '--no-git', '-m', ask('a tool')],
  },
  cecli: {
    program: 'cecli',
    words: () => ['--yes-always', '--no-check-update', '--no-analytics', '--no-git', '-m', ask('a tool')],
    file: {
      path: '.cecli.conf.yml',
      text: (url, model) => `model: openai/${model}\nopenai-api-base: ${url}/v1\n`,
    },
    key: 'OPENAI_API_KEY',
  },
  gptme: {
    program: 'gptme',
    words: (model) => [
      ...['--non-interactive', '--no-confirm', '--tool-format', 'tool', '--tools', 'shell'],
      ...['-m', `sluice/${model}`, ask('shell')],
    ],
    file: {
      path: '.config/gptme/config.toml',
      text: (url, model, key) =>
        `[[providers]]\nname = "sluice"\nbase_url = "${url}/v1"\napi_key = "${key}"\ndefault_model = "${model}"\n`,
    },
  },
  kilo: {
    program: 'kilo',
    title: 'Kilo Code',
    words: () => ['run', '--auto', ask('bash')],
    file: {
      path: '.config/kilo/kilo.json',
      text: (url, model, key) =>
        JSON.stringify({
          model: `sluice/${model}`,
          small_model: `sluice/${model}`,
          provider: {
            sluice: {
              npm: '@ai-sdk/openai-compatible',
              name: 'sluice',
              options: { baseURL: `${url}/v1`, apiKey: key },
              models: { [model]: { limit: { context: 200_000, output: 32_000 } } },
            },
          },
        }),
    },
  },
  'mini-swe-agent': {
    program: 'mini',
    words: (model) => ['-m', `openai/${model}`, '-t', ask('bash'), '--yolo', '--exit-immediately', '-l', '0'],
    file: {
      path: '.config/mini-swe-agent/.env',
      text: (url) => `OPENAI_API_BASE=${url}/v1\nMSWEA_CONFIGURED=true\nMSWEA_COST_TRACKING=ignore_errors\n`,
    },
    key: 'OPENAI_API_KEY',
  },
  'copilot-cli': { program: 'copilot', words: () => ['--allow-all-tools', '-p', ask('bash')] },
  droid: {
    program: 'droid',
    // It numbers custom models in their order.
    words: (model, at) => ['exec', '--auto', 'high', '-m', `custom:sluice/${model}-${at}`, ask('Execute')],
    env: { FACTORY_AIRGAP_ENABLED: 'true' },
  },
  'mistral-vibe': { program: 'vibe', words: () => ['--yolo', '-p', ask('bash')] },
  hermes: { program: 'hermes', words: () => ['chat', '--yolo', '-q', ask('terminal')] },
  llm: { program: 'llm', words: (model) => ['-m', `sluice/${model}`, ask('a tool')] },
} satisfies Record<string, Drive>
