// What a wire says to requests it cannot carry: the same words whichever it is.

import { type GatewayError, invalidRequest } from '../errors.ts'

/** For a tool at `path` that its own provider runs, or alone knows. */
export const foreignTool = (path: string): GatewayError =>
  invalidRequest(
    `'${path}' is a tool that only its own provider's models have. Take it out, or use one of those models.`,
    path,
  )

/** For a choice of a tool that is not there. */
export const unknownTool = (name: string): GatewayError =>
  invalidRequest(`'tool_choice': there is no tool named ${JSON.stringify(name)}.`, 'tool_choice')

/** For a choice of some tool where there is none. */
export const noTools = (): GatewayError =>
  invalidRequest("'tool_choice' asks for a tool, but the request has none.", 'tool_choice')

/** `member`: what the client calls the conversation. */
export const nothingToRead = (member: string): GatewayError =>
  invalidRequest('The conversation holds nothing that this model can read.', member)
