import type { Permission } from '../../src/access/role.ts'
import type { TestApi } from './api.ts'
import type { Json } from './json.ts'

/** Where the default settings serve; the port of a test is not committed. */
const DOCUMENTED_SERVER = 'http://127.0.0.1:8420'

export type Operation = {
  method: string
  path: string
  operationId: string
  summary: string
  description?: string
  tags: string[]
  security: object[]
  parameters?: {
    name: string
    in: string
    required?: boolean
    description?: string
    schema: { type?: string; pattern?: string; enum?: string[] }
  }[]
  requestBody?: unknown
  responses: Record<string, Json>
  /** Of the application's API: any of these permissions suffices. */
  'x-permissions'?: Permission[]
  'x-fresh-sign-in'?: boolean
}

export type OpenApiDocument = {
  openapi: string
  servers: { url: string }[]
  security: object[]
  paths: Record<string, Record<string, Omit<Operation, 'method' | 'path'>>>
  components: { schemas: Record<string, Json> }
}

/** The served description as the text of openapi.json, or of app-openapi.json. */
export async function readOpenApi(api: TestApi, prefix: '/v1' | '/app/api' = '/v1'): Promise<string> {
  const { body } = await api.request('GET', `${prefix}/openapi.json`)
  return `${JSON.stringify({ ...body, servers: [{ url: DOCUMENTED_SERVER }] }, null, 2)}\n`
}

/**
 * Every described operation, in the document's order. Security falls back to the document's own.
 */
export function operationsOf(document: OpenApiDocument): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      security: operation.security ?? document.security,
      method: method.toUpperCase(),
      path,
    })),
  )
}

/**
 * The operations that need an API key: all but the poll of a gate, which has a separate token.
 */
export function keyedOperationsOf(document: OpenApiDocument): Operation[] {
  return operationsOf(document).filter(({ security }) => security.some((scheme) => 'apiKey' in scheme))
}
