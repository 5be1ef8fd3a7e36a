import { hash } from 'node:crypto'

/** What identifies a finding in the next report. */
export type Identity = {
  fingerprint: string
  fingerprint_method: string
  /** The fingerprint without the path, by which a finding is recognized in another file. */
  relocation: string | null
}

/**
 * The SHA-256 of these parts, in hex. A part that is null differs from an empty one, and no two
 * methods give the same fingerprint.
 */
export function fingerprintOf(method: string, parts: readonly (string | null)[]): string {
  return hash('sha256', JSON.stringify([method, ...parts]), 'hex')
}

/** The identity of a finding that these parts identify within its file only. */
export function identityInFile(method: string, path: string | null, parts: (string | null)[]): Identity {
  const anywhere = fingerprintOf(method, parts)
  return {
    fingerprint: hash('sha256', anywhere + (path ?? ''), 'hex'),
    fingerprint_method: method,
    relocation: path === null ? null : anywhere,
  }
}

/**
 * The identity of a vulnerability in a package, which is the same for all versions of the package.
 */
export function dependencyIdentity(
  packageIdentity: string | null,
  vulnerabilityId: string | null,
  path: string | null,
): Identity {
  return identityInFile('dependency', path, [packageIdentity, vulnerabilityId])
}
