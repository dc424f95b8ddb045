// A real Prometheus over samples that a test hands it, where one is installed.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const [SERVER, TOOL] = ['prometheus', 'promtool'].map((name) => Bun.which(name))
/** Why it cannot be asked; undefined where it can. */
export const prometheusMissing = SERVER && TOOL ? undefined : 'no prometheus and promtool on this machine'

/** What /metrics said, and when, in whole seconds since the epoch. */
export type Scrape = { at: number; text: string }

type Series = { metric: Record<string, string>; value?: [number, string]; values?: [number, string][] }
export type Prometheus = {
  /** What an expression has at a time, or over a range of a step of 15 s. */
  query(expr: string, at: number): Promise<Series[]>
  range(expr: string, from: number, to: number): Promise<Series[]>
  stop(): Promise<void>
}

/** As it would have scraped them under this job. */
export const startPrometheus = async (job: string, scrapes: readonly Scrape[]): Promise<Prometheus> => {
  if (SERVER == null || TOOL == null) throw new Error(prometheusMissing)
  const directory = mkdtempSync(join(tmpdir(), 'sluice-prometheus-'))
  const lines = scrapes.flatMap(({ at, text }) =>
    text.split('\n').flatMap((line) => {
      const [, name, labels = '', value] = /^([a-z]\w*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      return name === undefined ? [] : [`${name}{${labels === '' ? '' : `${labels},`}job="${job}"} ${value} ${at}`]
    }),
  )
  writeFileSync(join(directory, 'samples'), `${lines.join('\n')}\n# EOF\n`)
  writeFileSync(join(directory, 'prometheus.yml'), 'scrape_configs: []\n')
  const data = join(directory, 'data')
  const imported = Bun.spawn([TOOL, 'tsdb', 'create-blocks-from', 'openmetrics', join(directory, 'samples'), data], {
    ...{ stdout: 'ignore', stderr: 'pipe' },
  })
  if ((await imported.exited) !== 0) throw new Error(await new Response(imported.stderr).text())
  const where = ['--config.file', join(directory, 'prometheus.yml'), '--storage.tsdb.path', data]
  const how = ['--storage.tsdb.retention.time=100y', '--web.listen-address=127.0.0.1:0']
  const server = Bun.spawn([SERVER, ...where, ...how], { stdout: 'ignore', stderr: 'pipe' })
  const stop = async (): Promise<void> => {
    server.kill('SIGKILL')
    await server.exited
    rmSync(directory, { recursive: true, force: true })
  }
  const { promise: listening, resolve, reject } = Promise.withResolvers<string>()
  let said = ''
  const listen = async (): Promise<void> => {
    const text = new TextDecoder()
    for await (const chunk of server.stderr) {
      said += text.decode(chunk, { stream: true })
      const address = /msg="Listening on" address=(\S+)/.exec(said)?.[1]
      if (address !== undefined && said.includes('ready to receive web requests')) resolve(`http://${address}`)
    }
    reject(new Error(said))
  }
  void listen()
  const origin = await listening.catch(async (error) => {
    await stop()
    throw error
  })
  const ask = async (path: string, input: Record<string, string>): Promise<Series[]> => {
    const response = await fetch(`${origin}/api/v1/${path}?${new URLSearchParams(input)}`)
    const told = (await response.json()) as { status: string; error?: string; data?: { result: Series[] } }
    if (told.status !== 'success' || told.data === undefined) throw new Error(`${input.query}: ${told.error}`)
    return told.data.result
  }
  return {
    query: (query, time) => ask('query', { query, time: String(time) }),
    range: (query, start, end) => ask('query_range', { query, start: String(start), end: String(end), step: '15' }),
    stop,
  }
}
