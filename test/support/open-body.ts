// A request's body as it comes, opened without waiting for anyone's turn.

import type { ClientBody } from '../../src/relay/client-body.ts'
import { openInTurns } from '../../src/relay/large-body.ts'

export const openBody = async (
  bytes: Uint8Array<ArrayBuffer>,
  translates: (model: string) => boolean = () => false,
): Promise<ClientBody> => openInTurns(bytes, translates, (_, work) => work())
