// The test bench of the matrix: one listening gateway in front of three scripted providers, each of which speaks one wire
// only.

import type { Model } from '../../../src/catalogue/model.ts'
import type { JsonObject } from '../../../src/ir/json.ts'
import type { Quirks } from '../../../src/ir/quirks.ts'
import { TOKENS_PER } from '../../../src/ir/usage.ts'
import { CHAT_WIRES, type ChatWire } from '../../../src/ir/wire.ts'
import { blankProvider } from '../../../src/provider/builtin.ts'
import type { Provider } from '../../../src/provider/provider.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { type Script, type Scripted, type ScriptedRequest, startScripted } from '../../support/provider/scripted.ts'
import type { Story } from './story.ts'

export type Variant = NonNullable<Story['variant']>

const QUIRKS: Record<Variant, Quirks> = {
  plain: {},
  'no-forms': { structuredOutputByTool: true },
  'no-custom': { noCustomTools: true },
  'no-thought': { noReasoning: true },
}

export type Play = (sent: JsonObject, request: ScriptedRequest) => Script

export type Bench = {
  gateway: TestGateway
  /** The id of the model that is served on this wire only. */
  model(vendor: ChatWire, variant?: Variant): string
  /** Sets how the next requests to the vendor are answered. */
  play(vendor: ChatWire, script: Script | Play): void
  /** The requests that reached the vendor since the last `play`. */
  sent(vendor: ChatWire): ScriptedRequest[]
  stop(): Promise<void>
}

const modelId = (vendor: ChatWire, variant: Variant): string =>
  variant === 'plain' ? `of-${vendor}` : `of-${vendor}-${variant}`

export const startBench = async (): Promise<Bench> => {
  const plays = new Map<ChatWire, Play>()
  const vendors = new Map<ChatWire, Scripted>()
  for (const wire of CHAT_WIRES) {
    const answer = (request: ScriptedRequest): Script =>
      plays.get(wire)?.(JSON.parse(request.text), request) ?? { status: 500 }
    vendors.set(wire, await startScripted(answer))
  }
  const origin = (wire: ChatWire): string => vendors.get(wire)?.origin ?? ''
  const providers = CHAT_WIRES.map(
    (wire): Provider => ({
      ...blankProvider(`speaks_${wire}`),
      wires: [wire],
      auth: wire === 'messages' ? 'x-api-key' : 'bearer',
      versionHeader: wire === 'messages' ? { name: 'vendorA-version', value: '2023-06-01' } : undefined,
      accounts: [
        {
          name: 'main',
          baseUrl: wire === 'messages' ? origin(wire) : `${origin(wire)}/v1`,
          credential: 'vendor-secret',
          weight: 1,
        },
      ],
    }),
  )
  const models = CHAT_WIRES.flatMap((wire) =>
    (Object.keys(QUIRKS) as Variant[]).map(
      (variant): Model => ({
        id: modelId(wire, variant),
        provider: `speaks_${wire}`,
        family: 'other',
        displayName: wire,
        tokensPer: TOKENS_PER,
        kind: 'text',
        inputModalities: ['text', 'image'],
        outputModalities: ['text'],
        contextWindow: 200_000,
        maxOutput: 32_000,
        price: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 1.25 },
        tokensPerImage: 0,
        createdAt: 1_700_000_000,
        upstream: 'up',
        quirks: QUIRKS[variant],
      }),
    ),
  )
  const aliases = { auto: modelId('messages', 'plain') }
  const gateway = await startGateway({ config: { providers, models, aliases, maxTries: 1 } })
  return {
    gateway,
    model: (vendor, variant = 'plain') => modelId(vendor, variant),
    play: (vendor, script) => {
      plays.set(vendor, typeof script === 'function' ? script : () => script)
      const requests = vendors.get(vendor)?.requests
      if (requests !== undefined) requests.length = 0
    },
    sent: (vendor) => vendors.get(vendor)?.requests ?? [],
    stop: async () => {
      await gateway.stop()
      for (const vendor of vendors.values()) await vendor.stop()
    },
  }
}
