import { type Operation, restDescription, webhookDescription } from './description.ts'

// biome-ignore lint/suspicious/noExplicitAny: the description is any JSON
type Json = any

/** Statuses that every operation may have, although the description rarely lists them. */
const COMMON_STATUSES = new Set([301, 304, 307, 400, 401, 403, 404, 409, 410, 422, 429, 500, 501, 502, 503])

/** What GitHub's description says against a request. */
export function requestViolations(operation: Operation, query: URLSearchParams, body: unknown): string[] {
  return [...queryViolations(operation, query), ...bodyViolations(operation, body)].map(
    (text) => `${operation.name}: ${text}`,
  )
}

function queryViolations(operation: Operation, query: URLSearchParams): string[] {
  const known = new Map(parametersOf(operation).map((parameter) => [parameter.json.name, parameter]))
  const unknown = [...query.keys()].filter((name) => known.get(name)?.json.in !== 'query')
  const wrong = [...query].flatMap(([name, text]) => {
    const parameter = known.get(name)
    if (parameter === undefined) return []
    const mismatch = restDescription().mismatch(`${parameter.pointer}/schema`, parsedValue(text, parameter.json.schema))
    return mismatch === null ? [] : [`query parameter ${name}=${text}: ${mismatch}`]
  })
  return [...unknown.map((name) => `unknown query parameter ${name}`), ...wrong]
}

function parametersOf({ name, path, description }: Operation): { json: Json; pointer: string }[] {
  const method = name.split(' ')[0]?.toLowerCase()
  return (description.parameters ?? []).map((parameter: Json, index: number) => {
    if (parameter.$ref === undefined) {
      return { json: parameter, pointer: `/paths/${escaped(path)}/${method}/parameters/${index}` }
    }
    const pointer = parameter.$ref.slice(1)
    return { json: restDescription().json.components.parameters[pointer.split('/').at(-1)], pointer }
  })
}

function parsedValue(text: string, schema: Json): unknown {
  if (schema.type === 'integer' || schema.type === 'number') return text === '' ? text : Number(text)
  if (schema.type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  return text
}

function bodyViolations({ name, path, description }: Operation, body: unknown): string[] {
  const { requestBody } = description
  if (requestBody === undefined) return body === undefined ? [] : ['has a body, but the operation takes none']
  if (body === undefined) return requestBody.required === true ? ['has no body'] : []
  const pointer = `/paths/${escaped(path)}/${name.split(' ')[0]?.toLowerCase()}/requestBody/content/application~1json/schema`
  const mismatch = restDescription().mismatch(pointer, body)
  return mismatch === null ? [] : [`request ${mismatch}`]
}

/** What GitHub's description says against an answer. */
export function answerViolations(operation: Operation, status: number, body: unknown): string[] {
  const { name, path, description } = operation
  const answer = description.responses[String(status)]
  if (answer === undefined) return COMMON_STATUSES.has(status) ? [] : [`${name}: answer ${status} is not described`]
  if (status >= 400) return []
  const own = `/paths/${escaped(path)}/${name.split(' ')[0]?.toLowerCase()}/responses/${status}`
  const [json, pointer] = resolved(answer, own)
  const schema = json.content?.['application/json']?.schema
  if (schema === undefined) return body === undefined ? [] : [`${name}: answer ${status} has a body`]
  const mismatch = restDescription().mismatch(`${pointer}/content/application~1json/schema`, body)
  return mismatch === null ? [] : [`${name}: answer ${status} ${mismatch}`]
}

function resolved(answer: Json, pointer: string): [Json, string] {
  if (answer.$ref === undefined) return [answer, pointer]
  const target = answer.$ref.slice(1)
  return [restDescription().json.components.responses[target.split('/').at(-1)], target]
}

/** What GitHub's description says against the payload of a webhook. */
export function payloadViolations(event: string, action: string | null, payload: unknown): string[] {
  const name = [event, ...(action === null ? [] : [action])].join('-').replaceAll('_', '-')
  if (webhookDescription().json.webhooks[name] === undefined) return [`webhook ${name} is not described`]
  const mismatch = webhookDescription().mismatch(`/webhooks/${name}`, payload)
  return mismatch === null ? [] : [`webhook ${name}: ${mismatch}`]
}

/** A part of a JSON pointer in a URI fragment. */
function escaped(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))
}
