import { matchesGlob } from '../platform/glob.ts'

/**
 * True if a glob matches a repository: its whole address `host/owner/name`, or the name without the
 * host. Case is ignored, as on code hosts.
 */
export function matchesRepository(pattern: string, repository: string): boolean {
  const [glob, address] = [pattern.toLowerCase(), repository.toLowerCase()]
  return matchesGlob(glob, address) || matchesGlob(glob, address.slice(address.indexOf('/') + 1))
}
