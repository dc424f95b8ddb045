// Figures as text: the table on stdout and docs/benchmarks.md.

import {
  BARS,
  type CaseFigures,
  type Crew,
  type Delay,
  type Figures,
  type Memory,
  type NodeFigures,
  type Spread,
} from './figures.ts'

const fixed = (value: number, digits = 2): string => value.toFixed(digits)
const whole = (value: number): string => Math.round(value).toLocaleString('en')
const megabytes = (kb: number): string => `${fixed(kb / 1024, 1)} MB`
const range = ({ min, max }: Spread, digits = 2): string => `${fixed(min, digits)}–${fixed(max, digits)}`
const verdict = (reached: boolean): string => (reached ? 'yes' : 'no')

const table = (head: string[], rows: string[][]): string => {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: string[]): string => `| ${cells.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

const CASE_HEAD = [
  'Case',
  'Ratio',
  'Range',
  'Bar',
  'Reached',
  'Gateway/s',
  'Bare/s',
  'CPU µs',
  'Bare CPU µs',
  'CPU ratio',
  'Busy',
]

const caseRow = (one: CaseFigures): string[] => [
  `${one.id}: ${one.name}`,
  fixed(one.ratio.median),
  range(one.ratio),
  ...(one.bar === undefined ? ['', ''] : [`≥ ${fixed(one.bar)}`, verdict(one.ratio.median >= one.bar)]),
  whole(one.gateway.perSecond),
  whole(one.bare.perSecond),
  whole(one.gateway.cpuUs),
  whole(one.bare.cpuUs),
  fixed(one.cpuRatio.median),
  `${whole(one.gateway.busy * 100)} / ${whole(one.bare.busy * 100)} %`,
]

const AGAINST_HEAD = ['Case', 'CPU µs', 'Other build CPU µs', 'CPU ratio', 'Range']

const againstRow = ({ id, name, gateway, against }: CaseFigures): string[][] =>
  against === undefined
    ? []
    : [
        [
          `${id}: ${name}`,
          whole(gateway.cpuUs),
          whole(against.cpuUs),
          fixed(against.cpuRatio.median),
          range(against.cpuRatio),
        ],
      ]

const NODE_HEAD = [
  'Case',
  'CPU µs over its file',
  'CPU µs of a node',
  'Ratio',
  'Range',
  'Bar',
  'Reached',
  'PostgreSQL µs',
]

const nodeRow = ({ id, name, fileUs, nodeUs, databaseUs, ratio }: NodeFigures): string[] => [
  ...[`${id}: ${name}`, whole(fileUs), whole(nodeUs), fixed(ratio.median), range(ratio)],
  ...[`≤ ${fixed(BARS.nodeRatio)}`, verdict(ratio.median <= BARS.nodeRatio), whole(databaseUs)],
]

const startRows = ({ migrated, fresh }: NonNullable<Figures['start']>): string[][] => {
  const bar = `≤ ${BARS.firstAnswerMs} ms`
  const row = (what: string, time: Spread): string[] => [
    `Start to the first 200, ${what}`,
    `${fixed(time.median, 0)} ms (${range(time, 0)})`,
    '',
    bar,
    verdict(time.median <= BARS.firstAnswerMs),
  ]
  return [row('data folder in use', migrated), row('empty data folder', fresh)]
}

const memoryRows = ({ gateway, bare }: { gateway: Memory; bare: Memory }): string[][] => [
  ['Resident memory after the start', megabytes(gateway.startKb), megabytes(bare.startKb), '', ''],
  ['Resident memory idle, after 20 streams', megabytes(gateway.idleKb), megabytes(bare.idleKb), '', ''],
  [
    `Per open silent stream (${gateway.streams} open)`,
    `${fixed(gateway.perStreamKb, 1)} KB`,
    `${fixed(bare.perStreamKb, 1)} KB`,
    `≤ ${BARS.perStreamKb} KB`,
    verdict(gateway.perStreamKb <= BARS.perStreamKb),
  ],
  [
    `Per open silent stream of a 300 KB request (${gateway.longStreams} open)`,
    `${fixed(gateway.perLongKb, 0)} KB`,
    `${fixed(bare.perLongKb, 0)} KB`,
    '',
    '',
  ],
]

const delayRows = (delay: NonNullable<Figures['delay']>): string[][] => {
  const added = ({ p50Us, p99Us }: Delay): string =>
    `p50 ${fixed(p50Us.median / 1000)} ms, p99 ${fixed(p99Us.median / 1000)} ms (${fixed(p99Us.min / 1000)}–${fixed(p99Us.max / 1000)})`
  const row = (name: string, gateway: Delay): string[] => [
    `Added per event, ${delay.streams} streams, ${name}`,
    added(gateway),
    added(delay.bare),
    `p99 ≤ ${BARS.addedP99Ms} ms`,
    verdict(gateway.p99Us.median <= BARS.addedP99Ms * 1000),
  ]
  return [row('same wire', delay.gateway), row('translated', delay.translated)]
}

const crowdRows = ({ streams, p50Us, p99Us, perStreamKb }: NonNullable<Figures['crowd']>): string[][] => [
  [
    `Added per event, ${whole(streams)} streams`,
    `p50 ${fixed(p50Us / 1000)} ms, p99 ${fixed(p99Us / 1000)} ms`,
    '',
    `p99 ≤ ${BARS.crowdP99Ms} ms`,
    verdict(p99Us <= BARS.crowdP99Ms * 1000),
  ],
  [
    'Per stream of those',
    `${fixed(perStreamKb, 1)} KB`,
    '',
    `≤ ${BARS.perStreamKb} KB`,
    verdict(perStreamKb <= BARS.perStreamKb),
  ],
]

const translationRow = (one: NonNullable<Figures['translation']>): string[] => [
  `Translated exchange, ${whole(one.bodyBytes / 1000)} KB and ${one.tools} tools`,
  `${fixed(one.gatewayUs / 1000)} ms`,
  `${fixed(one.bareUs / 1000)} ms`,
  `≤ ${BARS.translatedMs} ms`,
  verdict(one.gatewayUs <= BARS.translatedMs * 1000),
]

const CREW_HEAD = [
  'Small chat',
  'Answers/s',
  'of these cores alone',
  'CPU µs',
  'CPU µs at half load',
  'p99 ms there',
  'MB, what is shared once',
]

const crewRows = ({ workers, one, several }: NonNullable<Figures['workers']>): string[][] => {
  const row = (name: string, { perSecond, alone, cpuUs, halfCpuUs, p99Us, shareKb }: Crew): string[] => [
    name,
    whole(perSecond.median),
    whole(alone.median),
    `${whole(cpuUs.median)} (${range(cpuUs, 0)})`,
    `${whole(halfCpuUs.median)} (${range(halfCpuUs, 0)})`,
    `${fixed(p99Us.median / 1000, 1)} (${fixed(p99Us.min / 1000, 1)}–${fixed(p99Us.max / 1000, 1)})`,
    whole(shareKb / 1024),
  ]
  const ratio = (of: keyof Omit<Crew, 'shareKb'>): string => fixed(several[of].median / (one[of].median || 1))
  return [
    row('one process', one),
    row(`--workers ${workers}, all its processes`, several),
    ['ratio', ratio('perSecond'), ratio('alone'), ratio('cpuUs'), ratio('halfCpuUs'), ratio('p99Us'), ''],
  ]
}

/** The figures as one or more tables. */
export const tables = (figures: Figures): string => {
  const rows = [
    ...(figures.start ? startRows(figures.start) : []),
    ...(figures.memory ? memoryRows(figures.memory) : []),
    ...(figures.delay ? delayRows(figures.delay) : []),
    ...(figures.crowd ? crowdRows(figures.crowd) : []),
    ...(figures.translation ? [translationRow(figures.translation)] : []),
  ]
  const against = figures.cases.flatMap(againstRow)
  return [
    ...(figures.cases.length > 0 ? [table(CASE_HEAD, figures.cases.map(caseRow))] : []),
    ...(against.length > 0 ? [table(AGAINST_HEAD, against)] : []),
    ...(figures.workers ? [table(CREW_HEAD, crewRows(figures.workers))] : []),
    ...(figures.nodes === undefined ? [] : [table(NODE_HEAD, figures.nodes.map(nodeRow))]),
    ...(rows.length > 0 ? [table(['Measure', 'Gateway', 'Bare proxy', 'Bar', 'Reached'], rows)] : []),
  ].join('\n\n')
}

/** One line on where and how it was measured. */
export const circumstances = ({
  machine,
  gateway,
  against,
  bare,
  rounds,
  windowMs,
  date,
  environment,
}: Figures): string =>
  `${date}; ${machine.cores} cores (${machine.cpu}), ${machine.os}, Bun ${machine.bun}; ${gateway} beside a bare proxy ` +
  (against === undefined ? '' : `and ${against} `) +
  `(request body ${bare}); ${rounds} rounds of ${windowMs} ms a side; ` +
  (machine.pinned
    ? 'tested process on core 0, provider and load generator on core 1.'
    : 'processes not pinned to cores.') +
  (environment === undefined ? '' : ` Set in the environment: ${environment}.`)

/** docs/benchmarks.md. `peers`: what other gateways took, as `bun run peers --write` left it. */
export const document = (figures: Figures, peers: string): string => `# Benchmarks

Written by \`${figures.command}\`; do not edit. ${circumstances(figures)}

${tables(figures)}
${figures.failures.map((failure) => `\nNot measured: ${failure}.\n`).join('')}
## How to read it

- Ratios are gateway ÷ bare proxy in answers per second: the median over the rounds and its range. In a round the two
  take turns before the same loopback provider, so a busy machine slows both. The bare proxy is \`Bun.serve\` and
  \`fetch\` with nothing between (\`bench/bare-proxy.ts\`).
- The gateway runs as users run it: keys checked, every exchange reserved and settled in the database on disk.
- Its key has a quota, rate limits and a list of models; each provider has two accounts; the log goes to a file.
- Only complete answers count. Each case is first asked once and its text compared with the provider's; under load
  every stream is read to its terminal frame and weighed.
- "CPU µs" is the CPU time of the tested process per answer, all its threads. "Busy" is the share of one core it used
  (gateway / bare): well below 100 % means that provider and load generator set the pace, and the CPU ratio says more.
- Streams have 200 frames; the provider writes each by itself, as fast as the reader takes them. In d, e and i the bare
  proxy relays the provider's own bytes untranslated.
- g is c for a model that the configuration adds, of which only the id, the limits and the provider are said. h has
  four screenshots in base64 in its last turn; in f nothing but the opening names the conversation.
- With \`--workers\` nothing is pinned: client, provider and all processes share the cores, after so many answers that the
  runtime's compilers rest (a minute at most). "Of these cores alone": what as many cores as workers would do with client
  and provider elsewhere, by the CPU time of an answer, of which no thread has more than one core's; of one process that is
  its busiest thread's. "Half load" is half of what one process managed in the same run.
- "A node" is the same gateway with \`store: postgres://…\`, its key with the same limits, in turns with the one over its
  file; the database is a server of this run on core 1, which syncs to the disk. Its time counts all of its processes.
- Added per event: from the provider's write to the client's read, less the same without anything between; each of
  ${figures.delay?.streams ?? 200} streams carries 20 events a second, each of ${figures.crowd?.streams ?? 2000} carries ${figures.crowd?.eventsPerSecond ?? 5}.

## How to run it

\`\`\`
bun run bench                     # everything, about five minutes; writes this file
bun run bench --quick             # about one minute, writes nothing
bun run bench --only a,b          # of a to i, start, memory, delay, crowd, translation, workers, nodes
bun run bench --against FILE      # another build in the same rounds: CPU time per answer beside its
bun run bench --json              # the figures as one JSON document on stdout
bun run bench --source            # the source instead of the compiled binary
bun run bench --unpinned          # leaves the cores to the system
bun run bench --bare buffered     # a bare proxy that reads the request body before it calls
bun run bench --floor parsed      # cases a and c: the least gateway in its place (unread: one that reads no body)
\`\`\`

## Beside other gateways

\`bun run peers\` measures any gateways on this machine with the same cases, provider and load, one after the other in each
round. Each is set up as its users would, with accounting on, and started before; the provider listens at
\`http://127.0.0.1:9100\` (the messages wire) and \`http://127.0.0.1:9100/v1\` (chat completions and responses), takes any
credential and any model. A case whose first answer is not the provider's, or of which an answer under load is
incomplete, is told and left out. CPU time needs the process's id, and counts what it has started.

\`\`\`
bun run peers --gateway name=sluice,port=8080,key=KEY,messages=vendorA-sonnet-5,chat=vendorB-5.5,pid=PID --gateway name=…
\`\`\`

${peers.trim()}

CPU time is that of all processes of a gateway, and nothing is pinned: gateways, client and provider share the cores. LiteLLM
ran as one process without a database, Portkey by Bun, which has no accounts of its own: neither keeps books in this.
"–" is a case that it refuses or answers with another text. \`bun bench/bare-proxy.ts http://127.0.0.1:9100\` is the bare
proxy; what it does not translate is left out.

## What one body costs everyone else

\`bun run holds\` sends the worst bodies of 25 MB, plain and packed, passed and translated, each to a fresh gateway, and tells
the longest that the event loop was held (\`sluice_event_loop_hold_seconds\`) and how far memory rose. Only a machine that
does nothing else tells true holds.
`
