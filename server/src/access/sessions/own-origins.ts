import { isLoopback } from '../../platform/loopback.ts'

/** The names of this machine that browsers treat as secure. */
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]']

/** The origins of the pages of this server. On loopback, every name is the same server. */
export function getOwnOrigins(baseUrl: string): string[] {
  const { protocol, port, hostname, origin } = new URL(baseUrl)
  if (!isLoopback(hostname)) return [origin]
  return [origin, ...LOOPBACK_NAMES.map((name) => new URL(`${protocol}//${name}:${port}`).origin)]
}
