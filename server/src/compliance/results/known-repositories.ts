import { splitAddress } from '../../repositories/repository-identity.ts'

/** The names under which an organization's repositories are known, by source. */
type RepositoryNames = {
  /** `host/owner/name` from runs. */
  runs: string[]
  linked: { host: string; full_name: string }[]
  /** `owner/name` from security reports. */
  reported: string[]
}

/**
 * Lists each repository once: as `host/owner/name` if its host is known, otherwise as `owner/name`.
 * Names that differ only in case are one repository, because code hosts ignore case. The spelling
 * of runs takes precedence.
 */
export function mergeRepositoryNames({ runs, linked, reported }: RepositoryNames): string[] {
  const addresses = new Map<string, string>()
  for (const address of [...runs, ...linked.map(({ host, full_name }) => `${host}/${full_name}`)]) {
    const key = address.toLowerCase()
    if (!addresses.has(key)) addresses.set(key, address)
  }
  const names = new Set([...addresses.keys()].map((address) => splitAddress(address).name))
  const unhosted = reported.filter((name) => !names.has(name.toLowerCase()))
  return [...addresses.values(), ...unhosted]
}

/** Whether a report with this repository name is about the repository. */
export function isNamed(repository: string, name: string): boolean {
  const known = repository.toLowerCase()
  return known === name.toLowerCase() || splitAddress(known).name === name.toLowerCase()
}

/** Returns `owner/name` of `host/owner/name`, or null if the repository's host is not known. */
export function getHostlessName(repository: string): string | null {
  const { name } = splitAddress(repository)
  return name.includes('/') ? name : null
}
