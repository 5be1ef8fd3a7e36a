/** What an organization's repositories are known from, each in its own form. */
export type RepositoryNames = {
  /** `host/owner/name` of runs. */
  runs: string[]
  linked: { host: string; full_name: string }[]
  /** `owner/name` of security reports. */
  reported: string[]
}

/**
 * Each repository once: as `host/owner/name` where the host is known, else by its name alone. Code hosts fold case, so
 * spellings that differ only in it are one, as runs write it.
 */
export function knownRepositories({ runs, linked, reported }: RepositoryNames): string[] {
  const addresses = new Map<string, string>()
  for (const address of [...runs, ...linked.map(({ host, full_name }) => `${host}/${full_name}`)]) {
    const key = address.toLowerCase()
    if (!addresses.has(key)) addresses.set(key, address)
  }
  const names = new Set([...addresses.keys()].map(nameOf))
  const unhosted = reported.filter((name) => !names.has(name.toLowerCase()))
  return [...addresses.values(), ...unhosted]
}

/** Is a repository the one that a report calls by that name? */
export function isNamed(repository: string, name: string): boolean {
  const known = repository.toLowerCase()
  return known === name.toLowerCase() || nameOf(known) === name.toLowerCase()
}

/** By which name alone a repository was known before its host was; null where it is known by no more. */
export function hostlessName(repository: string): string | null {
  const name = nameOf(repository)
  return name.includes('/') ? name : null
}

function nameOf(address: string): string {
  return address.slice(address.indexOf('/') + 1)
}
