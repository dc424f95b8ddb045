// Credentials of accounts that were set at run time, sealed by a key that lies beside the database and in no backup of it.

import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { reasonOf } from '../config/secret.ts'
import type { Config } from '../config.ts'
import { createPrivate } from '../lib/private-file.ts'
import { makeSealKey, openText, parseSealKeys, type SealKey, sealKeyText, sealText } from '../lib/sealed-text.ts'
import { codeOf } from '../lib/system-code.ts'
import type { SealedCredential } from '../store/entries.ts'
import { storeError } from '../store/store.ts'

/** Where the key is, unless the environment has it. */
export const keyPath = (dataDir: string): string => join(dataDir, 'sluice.key')

/** Of what is shorter than so many characters, four would tell too much. */
const SHOWN_FROM = 16

/** What a credential is sealed for: under another name, or for another address, it cannot be opened. */
export type Bound = { account: string; baseUrl: string }

export type Credentials = {
  /** Makes the key where there is none yet. Throws a StoreError where it cannot. */
  seal(credential: string, bound: Bound): SealedCredential
  /** The credential, or a sentence why there is none. */
  open(sealed: SealedCredential, bound: Bound): { value: string } | { problem: string }
  /** Whether the key that seals now is not the one that has sealed this. */
  isOld(sealed: SealedCredential): boolean
  /** Puts a new key before the one there is, runs `reseal`, and lets the others go. */
  rotate<T>(reseal: () => Promise<T>): Promise<T>
}

/** `sealKeys`: from the environment, in place of the file's. `store`: what other nodes share, which have to open it too. */
type Sealing = Pick<Config, 'dataDir' | 'sealKeys' | 'store'>

export const createCredentials = ({ dataDir, sealKeys: given, store }: Sealing): Credentials => {
  const isShared = store !== undefined
  const path = keyPath(dataDir)
  // Read anew each time: another process may have made it, or put another key before it.
  const keys = (): readonly SealKey[] | { problem: string } => given ?? readKeys(path)
  const usable = (): readonly SealKey[] => {
    const found = keys()
    if (!('problem' in found)) return found
    throw storeError(found.problem)
  }
  return {
    seal(credential, bound) {
      const [key = isShared ? noKey() : firstKey(path)] = usable()
      const lastFour = credential.length < SHOWN_FROM ? null : credential.slice(-4)
      return { ...sealText(key, credential, boundText(bound)), lastFour }
    },
    open(sealed, bound) {
      const found = keys()
      if ('problem' in found) return found
      const key = found.find(({ id }) => id === sealed.by)
      if (key === undefined) {
        const where = given === undefined ? path : 'SLUICE_KEY'
        const what =
          found.length === 0
            ? `${where}, the key of its credential, is missing`
            : `${where} holds another key than the one its credential was sealed by`
        return { problem: `${what}: put that back, or set the credential again` }
      }
      const value = openText(key, sealed, boundText(bound))
      return value === undefined
        ? { problem: 'its credential is damaged, or was sealed for another address: set it again' }
        : { value }
    },
    isOld: ({ by }) => usable()[0]?.id !== by,
    async rotate(reseal) {
      if (given !== undefined) return reseal()
      if (isShared) return noKey()
      const old = usable()
      const fresh = makeSealKey()
      // Both are there until all is sealed anew, whenever this process is killed.
      replaceKeys(path, [fresh, ...old])
      const resealed = await reseal()
      replaceKeys(path, [fresh])
      return resealed
    },
  }
}

/** A key that this machine made for itself would open nothing elsewhere. */
const noKey = (): never => {
  throw storeError(
    'Several nodes share the database, and each has to open its credentials: set SLUICE_KEY to the same for all ("openssl rand -hex 32" makes one), and start them again.',
  )
}

const boundText = ({ account, baseUrl }: Bound): string => JSON.stringify(['account', account, baseUrl])

/** None where there is no file. */
const readKeys = (path: string): readonly SealKey[] | { problem: string } => {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    return { problem: `${path}, which opens the credentials of accounts, cannot be read (${reasonOf(error)})` }
  }
  // Whoever was to write it was killed before.
  if (text.trim() === '') return []
  return (
    parseSealKeys(text) ?? {
      problem: `${path} holds something else than keys: put back the file that this gateway made, or set the credentials again without it`,
    }
  )
}

const textOf = (keys: readonly SealKey[]): string => keys.map((key) => `${sealKeyText(key)}\n`).join('')

/** Within a change of the database, which others wait for: two never make one at once. */
const firstKey = (path: string): SealKey => {
  const key = makeSealKey()
  writeKeys(path, [key])
  return key
}

const replaceKeys = (path: string, keys: readonly SealKey[]): void => {
  const partial = `${path}.partial`
  rmSync(partial, { force: true })
  writeKeys(partial, keys)
  renameSync(partial, path)
}

const writeKeys = (path: string, keys: readonly SealKey[]): void => {
  try {
    createPrivate(path, path)
    const file = openSync(path, 'r+')
    try {
      writeSync(file, textOf(keys), 0)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    throw storeError(`${path}, the key of credentials, cannot be written (${reasonOf(error)}).`, error)
  }
}
