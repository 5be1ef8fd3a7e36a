import type { FastifyRequest } from 'fastify'
import { crossSiteRequest } from '../../errors/sign-in.ts'
import { getOwnOrigins } from '../sessions/own-origins.ts'

const CSRF_HEADER = 'x-shiplock-csrf'
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS']

/**
 * Refuses a state-changing request unless a page of this server sent it: forms of other sites
 * cannot set the header, and browsers state where a request comes from (console.md §3).
 * Throws 403 `cross_site_request`.
 */
export function requireSameOrigin({ method, headers }: FastifyRequest, baseUrl: string): void {
  if (SAFE_METHODS.includes(method)) return
  if (!headers[CSRF_HEADER]) throw crossSiteRequest(`Send the header ${CSRF_HEADER}: 1.`)
  const { origin, 'sec-fetch-site': site } = headers
  if (origin === undefined && site === undefined) throw crossSiteRequest('Send the header Origin or Sec-Fetch-Site.')
  if (site !== undefined && site !== 'same-origin') throw crossSiteRequest('The request comes from another site.')
  if (origin !== undefined && !isOwn(origin, baseUrl)) throw crossSiteRequest('The request comes from another origin.')
}

function isOwn(origin: string, baseUrl: string): boolean {
  return URL.canParse(origin) && getOwnOrigins(baseUrl).includes(new URL(origin).origin)
}
