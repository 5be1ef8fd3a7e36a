import { getMember, type JsonObject, toArray, toObject, toObjects, toText } from '../../platform/json/read-value.ts'
import { formatPackageKey } from '../components/package-key.ts'
import { VERSION_CHARS_MAX } from '../versions/version-key.ts'
import { parseEcosystem } from './ecosystems.ts'

/** An event of a range, as OSV writes it: one member. */
export type RangeEvent = Partial<Record<EventKind, string>>
const EVENT_KINDS = ['introduced', 'fixed', 'last_affected', 'limit'] as const
export type EventKind = (typeof EVENT_KINDS)[number]
export type AffectedRange = { type: string; events: RangeEvent[] }

/**
 * What an advisory says about one package (OSV schema, `affected[]`), as far as matching needs it.
 */
export type AffectedPackage = {
  ecosystem: string
  /** Empty if the ecosystem has none. */
  release: string
  package_key: string
  /** As the record writes it. */
  name: string
  ranges: AffectedRange[]
  versions: string[]
  /** Ubuntu's and Debian's word for the package in this release; null if there is none. */
  urgency: string | null
  /** RustSec's kind of an advisory that is not about a vulnerability, such as `unmaintained`. */
  informational: string | null
  /** Versions or events were left out, because there were too many. */
  is_truncated: boolean
}

const AFFECTED_MAX = 1000
const VERSIONS_MAX = 20_000
const EVENTS_MAX = 5000
const RANGES_MAX = 1000
const NAME_CHARS_MAX = 500
const WORD_CHARS_MAX = 50
/** Without control characters and halves of characters. */
const PRINTABLE = /^[^\p{Cc}\p{Cs}]+$/u

/** Parses the packages of an OSV record. Packages of ecosystems without a row are left out. */
export function collectAffected(record: JsonObject): AffectedPackage[] {
  return toObjects(record.affected).slice(0, AFFECTED_MAX).flatMap(readAffected)
}

function readAffected(affected: JsonObject): AffectedPackage[] {
  const stated = toObject(affected.package)
  const found = parseEcosystem(toText(stated?.ecosystem) ?? '')
  const name = toText(stated?.name)
  if (found === null || name === null || name.length > NAME_CHARS_MAX || !PRINTABLE.test(name)) return []
  const ranges = new Ranges(toObjects(affected.ranges))
  const versions = new Set(toArray(affected.versions).filter(isVersion))
  return [
    {
      ecosystem: found.ecosystem.name,
      release: PRINTABLE.test(found.release) ? found.release.slice(0, NAME_CHARS_MAX) : '',
      package_key: formatPackageKey(found.ecosystem.type, name),
      name,
      ranges: ranges.read,
      versions: [...versions].slice(0, VERSIONS_MAX),
      urgency: readWord(affected, 'urgency'),
      informational: readWord(affected, 'informational'),
      is_truncated: ranges.isTruncated || versions.size > VERSIONS_MAX,
    },
  ]
}

/** The ranges of a package with at most `EVENTS_MAX` events. Commits of GIT ranges do not count. */
class Ranges {
  readonly read: AffectedRange[] = []
  #events = 0
  isTruncated = false

  constructor(ranges: JsonObject[]) {
    for (const range of ranges) this.#add(range)
  }

  #add(range: JsonObject): void {
    const type = isVersion(range.type) ? range.type : ''
    const events = toObjects(range.events).flatMap(readEvents)
    if (type === 'GIT') return
    this.#events += events.length
    if (this.#events > EVENTS_MAX || this.read.length >= RANGES_MAX) this.isTruncated = true
    else this.read.push({ type: type.slice(0, WORD_CHARS_MAX), events })
  }
}

function readEvents(event: JsonObject): RangeEvent[] {
  return EVENT_KINDS.flatMap((kind) => (isVersion(event[kind]) ? [{ [kind]: event[kind] as string }] : []))
}

/** A longer text is no version, and neither is one that PostgreSQL cannot keep. */
function isVersion(value: unknown): value is string {
  return typeof value === 'string' && value.length <= VERSION_CHARS_MAX && PRINTABLE.test(value)
}

function readWord(affected: JsonObject, member: string): string | null {
  const word =
    toText(getMember(affected, 'ecosystem_specific', member)) ??
    toText(getMember(affected, 'database_specific', member))
  return word === null || !PRINTABLE.test(word) ? null : word.toLowerCase().slice(0, WORD_CHARS_MAX)
}
