// Who exports, and the times of what is exported, as OpenTelemetry's encoder takes them.

import { VERSION } from '../../version.ts'

type HrTime = [number, number]

export const hrTime = (ms: number): HrTime => {
  const seconds = Math.floor(ms / 1_000)
  return [seconds, Math.round((ms - seconds * 1_000) * 1e6)]
}

export const SCOPE = { name: 'sluice', version: VERSION }

/** `told`: what the configuration tells of this process. */
export const resourceOf = (told: Record<string, string>) => {
  const attributes = { 'service.version': VERSION, 'service.instance.id': crypto.randomUUID(), ...told }
  const resource = {
    attributes,
    merge: () => resource,
    getRawAttributes: () => Object.entries(attributes),
  }
  return resource
}

export type Resource = ReturnType<typeof resourceOf>
