import { fingerprintAt, fingerprintOf } from './fingerprint.ts'

/** What makes a finding the same one in the next report, by which method, and what of that does not depend on its place. */
export type Identity = { fingerprint: string; fingerprint_method: string; relocation: string | null }

/** Of what stands for its file only, and is recognized in another. */
export function placedIdentity(method: string, path: string | null, parts: (string | null)[]): Identity {
  const anywhere = fingerprintOf(method, parts)
  return {
    fingerprint: fingerprintAt(anywhere, path),
    fingerprint_method: method,
    relocation: path === null ? null : anywhere,
  }
}

/** Of a vulnerability in a package: neither versions nor anything that is made anew for each report is part of it. */
export function dependencyIdentity(
  packageIdentity: string | null,
  vulnerabilityId: string | null,
  path: string | null,
): Identity {
  return placedIdentity('dependency', path, [packageIdentity, vulnerabilityId])
}
