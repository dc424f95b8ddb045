// The operations of an OpenAPI document: what goes in, what comes out, what can go wrong.

import { API_ORIGIN } from '../lib/origin.ts'
import { Badge, Snippet } from '../ui/parts.tsx'

type Schema = {
  type?: string | string[]
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  allOf?: Schema[]
  const?: unknown
  $ref?: string
  minimum?: number
  maximum?: number
  minLength?: number
  pattern?: string
}
type Content = Record<string, { schema?: Schema; example?: unknown }>
type Operation = {
  operationId: string
  summary: string
  description?: string
  tags?: string[]
  security?: unknown[]
  parameters?: { name: string; in: string; required?: boolean; schema: Schema }[]
  requestBody?: { content: Content }
  responses: Record<string, { description: string; content?: Content }>
}
export type Document = {
  info: { title: string; version: string; description: string }
  tags: { name: string }[]
  paths: Record<string, Record<string, Operation>>
}

export const Operations = ({ of }: { of: Document }) => {
  const all = Object.entries(of.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  return (
    <div class="stack">
      <div>
        <h1>API reference</h1>
        <p class="muted" style={{ marginTop: '4px' }}>
          {of.info.description} Version {of.info.version},{' '}
          <a href="/docs/openapi.json" target="_blank" rel="noreferrer">
            OpenAPI document
          </a>
          .
        </p>
      </div>
      <div class="prose">
        <p>
          Send your key as <code>Authorization: Bearer …</code> or <code>x-api-key: …</code>; when both are there,{' '}
          <code>Authorization</code> counts. Clients of the messages style use <code>{API_ORIGIN}</code>, all others{' '}
          <code>{API_ORIGIN}/v1</code>.
        </p>
      </div>
      {of.tags.map(({ name: tag }) => (
        <section class="stack" style={{ gap: '10px' }} key={tag}>
          <h2>{tag}</h2>
          {all
            .filter(({ operation }) => (operation.tags?.[0] ?? '') === tag)
            .map((each) => (
              <One key={each.operation.operationId} {...each} />
            ))}
        </section>
      ))}
    </div>
  )
}

const One = ({ path, method, operation }: { path: string; method: string; operation: Operation }) => {
  const body = operation.requestBody?.content['application/json']
  const answer = operation.responses['200']
  const output = answer?.content?.['application/json']?.schema
  const failures = Object.entries(operation.responses).filter(([status]) => status !== '200')
  return (
    <details class="card op" id={operation.operationId}>
      <summary>
        <span class="method">{method.toUpperCase()}</span>
        <code>{path}</code>
        <span class="muted">{operation.summary}</span>
      </summary>
      <div class="card-body stack" style={{ paddingTop: '12px' }}>
        {operation.description && <p>{withCode(operation.description)}</p>}
        {operation.parameters && (
          <div>
            <h3>Parameters</h3>
            <Members of={fromParameters(operation.parameters)} />
          </div>
        )}
        {body?.schema && (
          <div>
            <h3>Request</h3>
            <p class="muted small">Members not listed here pass on to a provider of the same wire.</p>
            <Members of={body.schema} />
          </div>
        )}
        {body?.example !== undefined && <Snippet text={curlOf(path, body.example)} />}
        <div>
          <h3>Answer</h3>
          <p>{answer?.description === 'OK' ? '' : answer?.description}</p>
          {output?.properties && <Members of={output} />}
        </div>
        {failures.length > 0 && (
          <div>
            <h3>Errors</h3>
            <div class="table-wrap">
              <table class="members">
                <tbody>
                  {failures.map(([status, { description }]) => (
                    <tr key={status}>
                      <th scope="row" class="num">
                        {status}
                      </th>
                      <td>
                        {description.split('; `').map((text) => (
                          <Code key={text} text={text.replaceAll('`', '')} />
                        ))}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </div>
        )}
      </div>
    </details>
  )
}

/** Words in backticks as code. */
const withCode = (text: string) =>
  text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))

const Code = ({ text }: { text: string }) => {
  const [code, ...words] = text.split(': ')
  return (
    <span style={{ display: 'block' }}>
      <code>{code}</code> <span class="muted">{words.join(': ')}</span>
    </span>
  )
}

const fromParameters = (parameters: NonNullable<Operation['parameters']>): Schema => ({
  properties: Object.fromEntries(
    parameters.map(({ name, in: where, schema }) => [name, { ...schema, description: `In the ${where}.` }]),
  ),
  required: parameters.filter(({ required }) => required === true).map(({ name }) => name),
})

const Members = ({ of: schema }: { of: Schema }) => {
  const of = objectOf(schema)
  return (
    <div class="table-wrap">
      <table class="members">
        <tbody>
          {Object.entries(of.properties ?? {}).map(([name, member]) => (
            <tr key={name}>
              <th scope="row" class="nowrap">
                <code>{name}</code>
              </th>
              <td>
                <span class="mono">{typeOf(member)}</span>{' '}
                {of.required?.includes(name) && (
                  <Badge plain tone="warn">
                    required
                  </Badge>
                )}
                {member.description && <span class="sub">{member.description}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** The members of an object, of the first of several, or of all it is put together from. */
const objectOf = (schema: Schema): Schema => {
  const parts = schema.anyOf?.slice(0, 1) ?? schema.allOf
  if (parts === undefined) return schema
  const objects = parts.map(objectOf)
  return {
    properties: Object.assign({}, ...objects.map(({ properties }) => properties)),
    required: objects.flatMap(({ required }) => required ?? []),
  }
}

/** A schema in few words: string, integer ≥ 1, array of object, "a" | "b". */
const typeOf = (schema: Schema): string => {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(' | ')
  if (schema.type === 'array') {
    return `array of ${schema.items === undefined ? 'anything' : typeOf(schema.items)}`
  }
  if (schema.type === 'object' && schema.properties) {
    const names = Object.keys(schema.properties)
    return names.length === 0 ? 'object' : `{ ${names.join(', ')} }`
  }
  const range = [
    schema.minimum !== undefined && `≥ ${schema.minimum}`,
    schema.maximum !== undefined && schema.maximum < Number.MAX_SAFE_INTEGER && `≤ ${schema.maximum}`,
  ].filter(Boolean)
  return [schema.type ?? 'anything', ...range].join(' ')
}

const curlOf = (path: string, example: unknown): string =>
  [
    `curl ${API_ORIGIN}${path} \\`,
    '  -H "Authorization: Bearer $SLUICE_API_KEY" \\',
    '  -H "Content-Type: application/json" \\',
    `  -d '${JSON.stringify(example)}'`,
  ].join('\n')
