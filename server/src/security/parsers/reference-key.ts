import { hash } from 'node:crypto'

const KEY_MAX = 200

/** A reference as the key under which what it refers to is remembered: itself, or its hash where it is long. */
export function referenceKey(reference: string): string {
  return reference.length <= KEY_MAX ? reference : hash('sha256', reference, 'base64')
}
