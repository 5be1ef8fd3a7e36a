/** Distributions that put their name before a CVE id: `DEBIAN-CVE-2024-1000`. */
const DISTRIBUTIONS = ['ALPINE', 'BELL', 'DEBIAN', 'UBUNTU']

/** In the syntax that JavaScript and PostgreSQL share. */
export const DISTRIBUTION_CVE = `^(?:${DISTRIBUTIONS.join('|')})-(CVE-[0-9]{4}-[0-9]{4,12})$`
const PATTERN = new RegExp(DISTRIBUTION_CVE)

/** The id without the name of a distribution: it stays the same vulnerability. */
export function plainId(id: string): string {
  return PATTERN.exec(id)?.[1] ?? id
}
