/** Reads parsed JSON of unknown shape. A value of another type counts as absent. */

export type JsonObject = Record<string, unknown>

export function toObject(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null
}

export function toArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

/** The objects of an array. Entries of other types are skipped. */
export function toObjects(value: unknown): JsonObject[] {
  return toArray(value).filter((entry) => toObject(entry) !== null) as JsonObject[]
}

/** A string with more than white space. */
export function toText(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null
}

/** The strings of an array. A single string counts as an array of one. */
export function toTexts(value: unknown): string[] {
  return (typeof value === 'string' ? [value] : toArray(value)).filter((entry) => toText(entry) !== null) as string[]
}

/** An integer of at least `min`. */
export function toInteger(value: unknown, min: number): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= min ? value : null
}

/** A member of a nested object: `getMember(result, 'message', 'text')`. Own members only. */
export function getMember(value: unknown, ...names: string[]): unknown {
  let member = value
  for (const name of names) {
    const object = toObject(member)
    if (object === null || !Object.hasOwn(object, name)) return undefined
    member = object[name]
  }
  return member
}
