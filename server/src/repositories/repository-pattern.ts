import { matchesGlob } from '../platform/glob.ts'

/**
 * Does a glob mean this repository? It may speak of the whole `host/owner/name`, or of the name without its host, in
 * whatever case: code hosts fold it.
 */
export function matchesRepository(pattern: string, repository: string): boolean {
  const [glob, address] = [pattern.toLowerCase(), repository.toLowerCase()]
  return matchesGlob(glob, address) || matchesGlob(glob, address.slice(address.indexOf('/') + 1))
}
