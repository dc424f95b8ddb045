// The SQLite store.

export { restoreStore } from './backup.ts'
export { type OpenOptions, openStore } from './open.ts'
