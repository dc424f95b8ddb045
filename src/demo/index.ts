// The demo providers: two loopback servers that speak the vendors' real protocols, for newcomers without an account and
// for tests. They are reached like any provider, over HTTP.

import { randomId } from './id.ts'
import { type Recorded, startServer } from './server.ts'
import { createVendorA } from './vendor-a/index.ts'
import { createVendorB } from './vendor-b/index.ts'

export { DIRECTIVES } from './directive.ts'
export type { Recorded } from './server.ts'
export { MARKER } from './vendor.ts'

type DemoOptions = {
  /** Milliseconds between two frames of a stream; about 25 make it visible. Default 0. */
  delayMs?: number
  /** How many requests are kept in `requests`, the latest; 0 in the demo. Default 500. */
  record?: number
}

/** Where a demo vendor listens and the key it takes. vendor_b's base URL ends in `/v1`. */
type DemoProvider = { baseUrl: string; apiKey: string }

export type DemoProviders = {
  vendorA: DemoProvider
  vendorB: DemoProvider
  /** What a gateway that is to find them has in its environment. */
  env: Record<string, string>
  /** What reached the vendors, in order. */
  requests: Recorded[]
  stop(): Promise<void>
}

export const startDemoProviders = async (options: DemoOptions = {}): Promise<DemoProviders> => {
  const { delayMs = 0, record: most = 500 } = options
  const requests: Recorded[] = []
  const record = (request: Recorded): void => {
    if (most === 0) return
    if (requests.length >= most) requests.shift()
    requests.push(request)
  }
  const keyA = randomId('vka-demo-', 24)
  const keyB = randomId('vkb-demo-', 24)
  const a = startServer({ vendor: createVendorA(), apiKey: keyA, delayMs, record })
  const b = startServer({ vendor: createVendorB(), apiKey: keyB, delayMs, record })
  const vendorA: DemoProvider = { baseUrl: a.origin, apiKey: keyA }
  const vendorB: DemoProvider = { baseUrl: `${b.origin}/v1`, apiKey: keyB }
  return {
    vendorA,
    vendorB,
    env: {
      VENDOR_A_BASE_URL: vendorA.baseUrl,
      VENDOR_A_API_KEY: vendorA.apiKey,
      VENDOR_B_BASE_URL: vendorB.baseUrl,
      VENDOR_B_API_KEY: vendorB.apiKey,
    },
    requests,
    stop: async () => {
      await Promise.all([a.stop(), b.stop()])
    },
  }
}
