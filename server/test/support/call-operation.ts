import type { Answer, TestApi } from './api.ts'
import type { Operation } from './openapi.ts'

/** One of each form of id that the API has. None of them names anything. */
const SAMPLE_IDS = [
  '00000000-0000-4000-8000-000000000000',
  '0123456789abcdef0123456789abcdef',
  '1-0123456789abcdef01234567',
  'run_00000000000000000000000000',
  '999999999999999',
]

/** The path of the operation, with ids of the required form or with the given ones. */
export function pathOf({ path, parameters = [] }: Operation, ids: Record<string, string> = {}): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const schema = parameters.find((parameter) => parameter.in === 'path' && parameter.name === name)?.schema
    const { pattern, enum: [first] = [] } = schema ?? {}
    const sample = first ?? SAMPLE_IDS.find((id) => pattern === undefined || new RegExp(pattern).test(id))
    const value = ids[name] ?? sample
    if (value === undefined) throw new Error(`${path}: no sample id for ${name}, whose pattern is ${pattern}`)
    return value
  })
}

/**
 * Calls an operation, unless `body` is given with one that is JSON but need not be valid:
 * authorization comes first.
 */
export function callOperation(
  api: TestApi,
  operation: Operation,
  { key, ids, method, body = {} }: { key?: string; ids?: Record<string, string>; method?: string; body?: unknown } = {},
): Promise<Answer> {
  const required = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query' && parameter.required)
  const query = required.map(({ name }) => `${name}=Whoever+finds+it+may+read+this.`).join('&')
  const path = `${pathOf(operation, ids)}${query && `?${query}`}`
  return api.request(method ?? operation.method, path, {
    ...(key === undefined ? {} : { key }),
    ...(operation.requestBody ? { body } : {}),
  })
}
