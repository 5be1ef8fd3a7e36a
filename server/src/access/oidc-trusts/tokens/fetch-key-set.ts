import type { JSONWebKeySet } from 'jose'
import { buildDiscoveryUrl, isKeySetUrl } from '../issuer.ts'

const TIMEOUT_MS = 5000
const BYTES_MAX = 1024 * 1024

/** An issuer's documents cannot be read. The message is for the log. */
export class IssuerError extends Error {}

/** Reads where an issuer has its keys (OpenID Connect Discovery §4). Throws `IssuerError`. */
export async function fetchKeySetUrl(issuer: string): Promise<string> {
  const url = buildDiscoveryUrl(issuer)
  const document = await fetchJson(url)
  if (document.issuer !== issuer) throw new IssuerError(`${url} has another issuer.`)
  if (isKeySetUrl(document.jwks_uri, issuer)) return document.jwks_uri
  throw new IssuerError(`${url} has no https URL in jwks_uri.`)
}

/** Reads a key set (RFC 7517 §5). Throws `IssuerError`. */
export async function fetchKeySet(url: string): Promise<JSONWebKeySet> {
  const document = await fetchJson(url)
  if (Array.isArray(document.keys)) return { keys: document.keys.filter(isObject) as JSONWebKeySet['keys'] }
  throw new IssuerError(`${url} has no list of keys.`)
}

/** Reads a JSON object of at most 1 MiB within 5 s. Redirects are not followed. */
async function fetchJson(url: string): Promise<Record<string, unknown>> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await fetch(url, { redirect: 'manual', signal, headers: { accept: 'application/json' } })
    if (response.status !== 200) {
      await response.body?.cancel()
      throw new IssuerError(`${url} responded with status ${response.status}.`)
    }
    const document: unknown = JSON.parse(await readText(response, url))
    if (isObject(document)) return document
    throw new IssuerError(`${url} is not a JSON object.`)
  } catch (error) {
    throw error instanceof IssuerError ? error : new IssuerError(`${url} cannot be read: ${describe(error)}.`)
  }
}

async function readText(response: Response, url: string): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  // Leaving the loop early closes the connection.
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > BYTES_MAX) throw new IssuerError(`${url} has more than ${BYTES_MAX} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `no complete response within ${TIMEOUT_MS} ms`
  return error.cause instanceof Error ? error.cause.message : error.message
}
