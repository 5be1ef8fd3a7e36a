import type { ClientRequest, RequestOptions } from 'node:http'

// `packages/network`, which is built into the package, states the same.
export function openRequest(address: string | URL, options: RequestOptions): ClientRequest
export function explainFailure(request: ClientRequest, error: unknown): unknown
