// A request's body as it comes, opened without waiting for anyone's turn.

import type { ClientBody } from '../../src/relay/client-body.ts'
import { openBody } from '../../src/relay/large-body.ts'

export const openAtOnce = async (
  bytes: Uint8Array<ArrayBuffer>,
  translates: (model: string) => boolean = () => false,
): Promise<ClientBody> => openBody(bytes, translates, (_, work) => work())
