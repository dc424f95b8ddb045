// Refusals of requests that a wire cannot carry, the same for every wire.

import { type GatewayError, invalidRequest } from '../errors.ts'

/** For a tool at `path` that only its own provider runs or knows. */
export const foreignTool = (path: string): GatewayError =>
  invalidRequest(
    `'${path}' is a tool that only its own provider's models have. Take it out, or use one of those models.`,
    path,
  )

/** For a file at `path` that another provider keeps. */
export const foreignFile = (path: string): GatewayError =>
  invalidRequest(`'${path}' is a file kept at another provider than this model's. Send its content.`, path)

/** For a choice of a tool that the request does not have. */
export const unknownTool = (name: string): GatewayError =>
  invalidRequest(`'tool_choice': there is no tool named ${JSON.stringify(name)}.`, 'tool_choice')

/** For a forced tool call in a request without tools. */
export const noTools = (): GatewayError =>
  invalidRequest("'tool_choice' asks for a tool, but the request has none.", 'tool_choice')

/** `member`: the client's name for the conversation. */
export const nothingToRead = (member: string): GatewayError =>
  invalidRequest('The conversation holds nothing that this model can read.', member)
