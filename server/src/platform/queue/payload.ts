import type { TSchema } from 'typebox'

/**
 * The schema of a payload with these texts, mostly ids. Plain JSON Schema, because a command that
 * only queues jobs would take a third longer if it loaded TypeBox.
 */
export function payloadOf(...names: string[]): TSchema {
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  return { type: 'object', required: names, properties }
}
