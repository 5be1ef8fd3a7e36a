import { isDeepStrictEqual } from 'node:util'
import type { Acknowledged } from '../journal.ts'

/** An acknowledged write that is not there, or not as it was acknowledged. */
export type Loss = { kind: string; id: string; expected: unknown; found: unknown }

export function lossUnlessEqual(
  { kind, id }: Pick<Acknowledged, 'kind' | 'id'>,
  found: unknown,
  expected: unknown,
): Loss[] {
  return isDeepStrictEqual(found, expected) ? [] : [{ kind, id, expected, found }]
}
