import type { SeededRandom } from '../../src/platform/seeded-random.ts'
import { placesIn, type RawJson, type RawPlace, rawJson, rawText } from './raw-json.ts'

/** Values that often cause errors, as JSON texts. */
const ODD_VALUES = [
  'null',
  'true',
  '0',
  '-0',
  '-1',
  '1e400',
  '-1e400',
  '1e-400',
  '9007199254740993',
  '2147483648',
  `1${'0'.repeat(400)}`,
  '0.5',
  '""',
  '" "',
  '"\\u0000"',
  '"a\\u0000b"',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\u00e9\u4e2d\ud83d\ude00"',
  '"__proto__"',
  '"constructor"',
  '"toString"',
  '"{0}{1}{{}}"',
  '"%"',
  '"%00/%2e%2e/%ff"',
  '"file:///"',
  '"../../etc/passwd"',
  '"javascript:alert(1)"',
  '"pkg:"',
  '"pkg:npm/%"',
  '"pkg:npm/@@@"',
  '"urn:cdx:00000000-0000-0000-0000-000000000000/1#%"',
  '"CVSS:3.1/AV:N"',
  '"https://[::1"',
  '[]',
  '{}',
  '[[]]',
  '[null]',
  '[{}]',
  '{"":{}}',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
]

const ODD_NAMES = ['"__proto__"', '"constructor"', '"toString"', '""', '"\\u0000"', '"\\ud800"', `"${'n'.repeat(300)}"`]

/** Bytes with a meaning in JSON, and some that are invalid everywhere. */
const ODD_BYTES = Buffer.from('{}[]",:\\0-+eE.tfnu\u0000\u0001\u007f\n\r\u00ff\u00c0', 'latin1')

/** The maximal length that one change adds. */
const MORE_LENGTH_MAX = 2_000_000

type Change = (document: RawJson, random: SeededRandom) => void

/** Changes after which the document is still JSON. */
const CHANGES: Record<string, Change> = {
  replace: (document, random) => place(document, random).replace(random.pick(ODD_VALUES)),
  'long string': (document, random) => place(document, random).replace(`"${'x'.repeat(1 << random.below(18))}"`),
  'deep nesting': (document, random) => place(document, random).replace(nested(1 << random.below(11), random)),
  'copy elsewhere': (document, random) => place(document, random).replace(rawText(place(document, random).value)),
  'wrap in a list': (document, random) => wrap(place(document, random), (value) => [value]),
  'wrap in an object': (document, random) =>
    wrap(place(document, random), (value) => ({ members: [[random.pick(ODD_NAMES), value]] })),
  remove: (document, random) => entries(document, random, (list, at) => list.splice(at, 1)),
  duplicate: (document, random) =>
    entries(document, random, (list, at) => list.splice(at, 0, structuredClone(list[at]))),
  'duplicate with another value': duplicateName,
  reorder: (document, random) => entries(document, random, (list) => list.reverse()),
  rename: rename,
  'many more': (document, random) =>
    entries(document, random, (list, at) => {
      const copies = Math.min(random.below(200), Math.ceil(MORE_LENGTH_MAX / JSON.stringify(list[at]).length))
      for (let copy = 0; copy < copies; copy++) list.push(structuredClone(list[at]))
    }),
}

/** Changes after which the document may not be JSON. */
const DAMAGES: Record<string, (bytes: Buffer, random: SeededRandom) => Buffer> = {
  'cut off': (bytes, random) => bytes.subarray(0, random.below(bytes.length)),
  'flip a bit': (bytes, random) => {
    const copy = Buffer.from(bytes)
    const at = random.below(copy.length)
    copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8))
    return copy
  },
  'replace a byte': (bytes, random) => {
    const copy = Buffer.from(bytes)
    copy[random.below(copy.length)] = random.pick([...ODD_BYTES])
    return copy
  },
  'remove a piece': (bytes, random) => {
    const at = random.below(bytes.length)
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + random.below(64))])
  },
  'repeat a piece': (bytes, random) => {
    const end = random.below(bytes.length)
    return Buffer.concat([bytes.subarray(0, end), bytes.subarray(Math.max(0, end - random.below(64)))])
  },
  'insert a byte': (bytes, random) => {
    const at = random.below(bytes.length)
    return Buffer.concat([bytes.subarray(0, at), Buffer.from([random.pick([...ODD_BYTES])]), bytes.subarray(at)])
  },
}

export type Mutated = { bytes: Buffer; changes: string[] }

/** Makes a few changes to the document, and in half of all cases damages its bytes. */
export function mutateJson(document: unknown, random: SeededRandom): Mutated {
  const raw = rawJson(document)
  const changes = Array.from({ length: random.below(5) }, () => random.pick(Object.keys(CHANGES)))
  for (const name of changes) CHANGES[name]?.(raw, random)
  const bytes = Buffer.from(rawText(raw))
  if (bytes.length === 0 || random.below(2) === 0) return { bytes, changes }
  const damage = random.pick(Object.keys(DAMAGES))
  return { bytes: DAMAGES[damage]?.(bytes, random) ?? bytes, changes: [...changes, damage] }
}

function place(document: RawJson, random: SeededRandom): RawPlace {
  const places = placesIn(document)
  return places.length === 0 ? { value: document, replace: () => {} } : random.pick(places)
}

function wrap({ value, replace }: RawPlace, wrapped: (value: RawJson) => RawJson): void {
  replace(wrapped(value))
}

/** Changes the members or elements of a random object or array. */
function entries(document: RawJson, random: SeededRandom, change: (list: unknown[], at: number) => void): void {
  const lists = [document, ...placesIn(document).map(({ value }) => value)].flatMap((value) => {
    const list = typeof value === 'string' ? [] : Array.isArray(value) ? value : value.members
    return list.length === 0 ? [] : [list as unknown[]]
  })
  if (lists.length === 0) return
  const list = random.pick(lists)
  change(list, random.below(list.length))
}

function membersOf(document: RawJson, random: SeededRandom): [string, RawJson][] {
  const objects = [document, ...placesIn(document).map(({ value }) => value)].flatMap((value) =>
    typeof value === 'string' || Array.isArray(value) || value.members.length === 0 ? [] : [value.members],
  )
  return objects.length === 0 ? [] : random.pick(objects)
}

function duplicateName(document: RawJson, random: SeededRandom): void {
  const members = membersOf(document, random)
  if (members.length > 0) members.push([random.pick(members)[0], random.pick(ODD_VALUES)])
}

function rename(document: RawJson, random: SeededRandom): void {
  const members = membersOf(document, random)
  if (members.length > 0) random.pick(members)[0] = random.pick(ODD_NAMES)
}

function nested(depth: number, random: SeededRandom): string {
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['{"components":[', ']}'],
  ] as const)
  return open.repeat(depth) + (open === '{"a":' ? '1' : '') + close.repeat(depth)
}
