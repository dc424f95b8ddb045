// The SQLite store.

export { backupStore, restoreStore } from './backup.ts'
export { type OpenOptions, openStore } from './open.ts'
