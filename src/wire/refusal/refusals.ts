// Refusals of requests that a wire cannot carry, the same for every wire.

import { type GatewayError, invalidRequest } from '../../errors.ts'
import { placeOf } from '../../ir/place.ts'
import type { ToolChoice } from '../../ir/request.ts'

/** For a tool at `path` that only its own provider runs or knows. */
export const foreignTool = (path: string): GatewayError =>
  invalidRequest(
    `'${path}' is a tool that only its own provider's models have. Take it out, or use one of those models.`,
    path,
  )

/** For a file at `path` that another provider keeps. */
export const foreignFile = (path: string): GatewayError =>
  invalidRequest(`'${path}' is a file kept at another provider than this model's. Send its content.`, path)

/** For a text at `path` that the client calls an image. */
export const textForImage = (path: string): GatewayError =>
  invalidRequest(`'${path}' is text where an image must be.`, path)

/** For a choice of a tool that the request does not have. */
export const unknownTool = (choice: ToolChoice, name: string): GatewayError => {
  const path = placeOf(choice, 'tool_choice')
  return invalidRequest(`'${path}': there is no tool named ${JSON.stringify(name)}.`, path)
}

/** For a forced tool call in a request without tools. */
export const noTools = (choice: ToolChoice): GatewayError => {
  const path = placeOf(choice, 'tool_choice')
  return invalidRequest(`'${path}' asks for a tool, but the request has none.`, path)
}

/** `member`: the client's name for the conversation. */
export const nothingToRead = (member: string): GatewayError =>
  invalidRequest('The conversation holds nothing that this model can read.', member)
