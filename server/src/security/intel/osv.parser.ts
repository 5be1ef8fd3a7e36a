import { type AffectedPackage, collectAffected } from '../../inventory/advisories/affected.ts'
import { getMember, type JsonObject, toArray, toObject, toObjects, toText } from '../../platform/json/read-value.ts'
import { NAME_MAX, truncateText, VERSION_MAX } from '../vocabulary/bounded-text.ts'
import { findPackageType } from '../vocabulary/package-url.ts'
import {
  type CvssVersion,
  parseCvssVector,
  parseSeverity,
  type Rating,
  type Severity,
  selectSeverity,
} from '../vocabulary/severity.ts'
import { isCveId } from '../vocabulary/vulnerability-id.ts'
import { IntelError, parseTimestamp } from './intel-file.ts'

/** The fields of an OSV record that are stored. */
export type Advisory = {
  id: string
  modified: Date
  withdrawn: boolean
  severity: Severity | null
  cvss_version: string | null
  cvss_score: number | null
  cvss_vector: string | null
  /** Other ids of the same vulnerability. */
  aliases: string[]
  fixes: Fix[]
  /** The vulnerabilities that it is about, if it lists several; else it is one itself. */
  upstream: string[]
  affected: AffectedPackage[]
}

const RATINGS_MAX = 100

/**
 * Reads one record in the Open Source Vulnerability format (ossf.github.io/osv-schema). Invalid
 * optional fields are skipped. Throws IntelError if the document is not an OSV record.
 */
export function parseOsv(text: string): Advisory {
  const record = toObject(parseJson(text))
  const id = parseId(record?.id)
  if (record === null || id === null) throw new IntelError('The document is not an OSV record: it has no id.')
  const modified = parseTimestamp(record.modified)
  if (modified === null) throw new IntelError(`${id} has no valid modified time.`)
  return {
    id,
    modified,
    withdrawn: parseTimestamp(record.withdrawn) !== null,
    ...readSeverity(record),
    aliases: collectAliases(id, record),
    fixes: collectFixes(record),
    upstream: collectUpstream(record),
    affected: collectAffected(record),
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new IntelError(`The document is not valid JSON: ${(error as Error).message.slice(0, 200)}.`)
  }
}

type AdvisoryRating = Pick<Advisory, 'severity' | 'cvss_version' | 'cvss_score' | 'cvss_vector'>

/** The severity that the database states takes precedence over the scores of CVSS vectors. */
function readSeverity(record: JsonObject): AdvisoryRating {
  const stated = [record, ...toObjects(record.affected)].flatMap(({ severity }) => toObjects(severity))
  const own = parseSeverity(toText(getMember(record, 'database_specific', 'severity')))
  const ratings = [inWords(own, true), ...stated.slice(0, RATINGS_MAX).map(readRating)]
  const { severity, cvss_version, cvss_score, cvss_vector } = selectSeverity(ratings)
  const isRated = cvss_version !== null || ratings.some((rating) => rating.severity !== null)
  return { severity: isRated ? severity : null, cvss_version, cvss_score, cvss_vector }
}

const VERSION_OF_TYPE = new Map<string, CvssVersion>([
  ['CVSS_V4', '4.0'],
  ['CVSS_V3', '3.1'],
  ['CVSS_V2', '2.0'],
])

/**
 * `severity[].score` is a CVSS vector. Types of a distribution have a term such as `low`
 * instead.
 */
function readRating({ type, score }: JsonObject): Rating {
  const version = VERSION_OF_TYPE.get(toText(type) ?? '')
  if (version === undefined) return inWords(parseSeverity(toText(score)), false)
  const vector = parseCvssVector(toText(score), version)
  return { isOwn: false, severity: null, score: null, cvssVersion: vector?.version ?? null, vector }
}

function inWords(severity: Severity | null, isOwn: boolean): Rating {
  return { isOwn, severity, score: null, cvssVersion: null, vector: null }
}

const ALIASES_MAX = 50

/**
 * Other ids of the record's vulnerability: all of `aliases`, and the CVE id in `upstream` if it is
 * the only one. Distributions list in `upstream` what an advisory fixes, so several ids are not
 * aliases of it.
 */
function collectAliases(id: string, { aliases, upstream }: JsonObject): string[] {
  const upstreamIds = collectIds(upstream)
  const cves = upstreamIds.filter(isCveId)
  const candidates = cves.length > 0 ? cves : upstreamIds
  const found = new Set([...collectIds(aliases), ...(candidates.length === 1 ? candidates : [])])
  found.delete(id)
  // A longer list is a collection. Treating it as aliases would join unrelated vulnerabilities.
  return found.size > ALIASES_MAX ? [] : [...found].sort()
}

const UPSTREAM_MAX = 2000

function collectUpstream({ upstream }: JsonObject): string[] {
  const ids = [...new Set(collectIds(upstream))].slice(0, UPSTREAM_MAX).sort()
  return ids.length > 1 ? ids : []
}

function collectIds(value: unknown): string[] {
  return toArray(value).flatMap((entry) => parseId(entry) ?? [])
}

/** An id of a vulnerability database, in its original case; null if the value is not one. */
function parseId(value: unknown): string | null {
  return typeof value === 'string' && /^[!-~]{1,200}$/.test(value) ? value : null
}

/** A package for which an advisory lists a fixed version. */
export type Fix = {
  /** The package URL type. */
  type: string
  name: string
  /** True if every affected range ends in a fixed version. */
  fixes_all: boolean
  fixed: string[]
}

const AFFECTED_MAX = 1000

/**
 * The packages with a `fixed` event in an OSV record (OSV schema, `affected[].ranges[].events`).
 */
export function collectFixes(record: JsonObject): Fix[] {
  const packages = new Map<string, Fix>()
  for (const affected of toObjects(record.affected).slice(0, AFFECTED_MAX)) collect(affected, packages)
  return [...packages.values()].filter(({ fixed }) => fixed.length > 0)
}

/** Some databases write one `affected` entry per range, so entries of one package are combined. */
function collect(affected: JsonObject, packages: Map<string, Fix>): void {
  const stated = toObject(affected.package)
  // An ecosystem may be followed by a colon and a registry, as in Maven's.
  const type = findPackageType(toText(stated?.ecosystem)?.split(':', 1)[0] ?? '')
  const name = truncateText(toText(stated?.name), NAME_MAX)
  if (type === null || name === null) return
  const fix = packages.get(`${type}/${name}`) ?? { type, name, fixes_all: true, fixed: [] }
  const { introduced, fixed } = collectEvents(affected)
  fix.fixed.push(...fixed)
  fix.fixes_all &&= fixed.length > 0 && fixed.length >= introduced
  packages.set(`${type}/${name}`, fix)
}

/** GIT ranges are skipped: their events are commits, not versions of a package. */
function collectEvents(affected: JsonObject): { introduced: number; fixed: string[] } {
  const events = toObjects(affected.ranges)
    .filter((range) => range.type !== 'GIT')
    .flatMap((range) => toObjects(range.events))
  return {
    introduced: events.filter((event) => toText(event.introduced) !== null).length,
    fixed: events.flatMap((event) => truncateText(toText(event.fixed), VERSION_MAX) ?? []),
  }
}
