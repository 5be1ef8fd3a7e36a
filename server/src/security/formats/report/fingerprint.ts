import { hash } from 'node:crypto'

/**
 * Hex SHA-256 that identifies a finding. The parts are separated unambiguously, and a part that is absent differs from an empty one.
 * The method is part of the hash: two methods never give the same fingerprint.
 */
export function fingerprintOf(method: string, parts: readonly (string | null)[]): string {
  return hash('sha256', JSON.stringify([method, ...parts]), 'hex')
}

/** Hex SHA-256 of what has the fingerprint `anywhere`, at one place. A place is null or no empty text. */
export function fingerprintAt(anywhere: string, place: string | null): string {
  return hash('sha256', anywhere + (place ?? ''), 'hex')
}
