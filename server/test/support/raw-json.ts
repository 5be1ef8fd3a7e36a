/**
 * A JSON document with its members in order, possibly repeated, and its values as text. Tests use
 * it for documents that no program would write.
 */
export type RawJson = string | RawJson[] | { members: [name: string, value: RawJson][] }

export function rawJson(value: unknown): RawJson {
  if (Array.isArray(value)) return value.map(rawJson)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return { members: Object.entries(value).map(([name, member]) => [JSON.stringify(name), rawJson(member)]) }
}

export function rawText(value: RawJson): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return `[${value.map(rawText).join(',')}]`
  return `{${value.members.map(([name, member]) => `${name}:${rawText(member)}`).join(',')}}`
}

/** A value in a document, and a function that replaces it. */
export type RawPlace = { value: RawJson; replace: (value: RawJson) => void }

export function placesIn(value: RawJson): RawPlace[] {
  if (typeof value === 'string') return []
  const slots: RawPlace[] = Array.isArray(value)
    ? value.map((entry, index) => ({
        value: entry,
        replace: (other) => {
          value[index] = other
        },
      }))
    : value.members.map((member) => ({
        value: member[1],
        replace: (other) => {
          member[1] = other
        },
      }))
  return slots.flatMap((slot) => [slot, ...placesIn(slot.value)])
}
