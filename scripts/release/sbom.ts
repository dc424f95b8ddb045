// The bill of materials, in CycloneDX's form: what is compiled into the binary, with versions and licences.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Enums, Models, Serialize, SPDX, Spec } from '@cyclonedx/cyclonedx-library'
import manifest from '../../package.json' with { type: 'json' }
import { ROOT } from '../run.ts'

type Manifest = { name: string; version: string; license?: string; dependencies?: Record<string, string> }

const manifestOf = (name: string): Manifest | undefined => {
  try {
    return JSON.parse(readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8')) as Manifest
  } catch {
    // An optional dependency of another platform.
    return undefined
  }
}

/** Those of production, and what they need in turn, by name. */
export const shippedPackages = (): Manifest[] => {
  const found = new Map<string, Manifest>()
  const left = Object.keys(manifest.dependencies)
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    if (found.has(name)) continue
    const read = manifestOf(name)
    if (read === undefined) continue
    found.set(name, read)
    left.push(...Object.keys(read.dependencies ?? {}))
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** JSON text. Nothing in it depends on when or where it was made. */
export const billOfMaterials = (): string => {
  const product = component(manifest, Enums.ComponentType.Application)
  product.bomRef.value = `${manifest.name}@${manifest.version}`
  const bom = new Models.Bom({ metadata: new Models.Metadata({ component: product }) })
  const runtime = new Models.Component(Enums.ComponentType.Platform, 'bun', { version: Bun.version })
  runtime.licenses.add(new Models.SpdxLicense('MIT'))
  const parts = [runtime, ...shippedPackages().map((one) => component(one, Enums.ComponentType.Library))]
  for (const part of parts) {
    part.bomRef.value = `${part.name}@${part.version}`
    bom.components.add(part)
    product.dependencies.add(part.bomRef)
  }
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6))
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`
}

const component = ({ name, version, license }: Manifest, type: Enums.ComponentType): Models.Component => {
  const [group, own] = name.startsWith('@') ? name.split('/') : [undefined, name]
  const made = new Models.Component(type, own ?? name, { version, ...(group === undefined ? {} : { group }) })
  if (license !== undefined) {
    const known = SPDX.fixupSpdxId(license)
    made.licenses.add(known === undefined ? new Models.NamedLicense(license) : new Models.SpdxLicense(known))
  }
  if (type === Enums.ComponentType.Library) made.purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  return made
}
