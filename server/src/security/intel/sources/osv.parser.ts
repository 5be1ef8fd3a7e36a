import { type JsonObject, memberOf, objectOf, objectsOf, textOf } from '../../../platform/json/read-value.ts'
import { type CvssVersion, cvssVectorOf } from '../../vocabulary/cvss-vector.ts'
import { type Rating, type Severity, severityFields, severityInWords } from '../../vocabulary/severity.ts'
import { IntelError } from '../intel-error.ts'
import { aliasesOf } from './advisory-aliases.ts'
import { type Fix, fixesOf } from './advisory-fixes.ts'
import { advisoryIdOf } from './advisory-id.ts'
import { timestampOf } from './calendar-date.ts'

/** What we keep of an OSV record. */
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
}

const RATINGS_MAX = 100

/**
 * Reads one record of the Open Source Vulnerability format (ossf.github.io/osv-schema). Throws IntelError where it is no
 * such record; whatever is odd inside is left out.
 */
export function parseOsv(text: string): Advisory {
  const record = objectOf(parseJson(text))
  const id = advisoryIdOf(record?.id)
  if (record === null || id === null) throw new IntelError('It is no OSV record: it has no id.')
  const modified = timestampOf(record.modified)
  if (modified === null) throw new IntelError(`${id} has no time at which it was modified.`)
  return {
    id,
    modified,
    withdrawn: timestampOf(record.withdrawn) !== null,
    ...ratingOf(record),
    aliases: aliasesOf(id, record),
    fixes: fixesOf(record),
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new IntelError(`It is no JSON: ${(error as Error).message.slice(0, 200)}.`)
  }
}

type AdvisoryRating = Pick<Advisory, 'severity' | 'cvss_version' | 'cvss_score' | 'cvss_vector'>

/** The database's own word for the severity counts before what the vectors score. */
function ratingOf(record: JsonObject): AdvisoryRating {
  const stated = [record, ...objectsOf(record.affected)].flatMap(({ severity }) => objectsOf(severity))
  const word = severityInWords(textOf(memberOf(record, 'database_specific', 'severity')))
  const ratings = [inWords(word, true), ...stated.slice(0, RATINGS_MAX).map(readRating)]
  const { severity, cvss_version, cvss_score, cvss_vector } = severityFields(ratings)
  const isRated = cvss_version !== null || ratings.some((rating) => rating.severity !== null)
  return { severity: isRated ? severity : null, cvss_version, cvss_score, cvss_vector }
}

const VERSION_OF_TYPE = new Map<string, CvssVersion>([
  ['CVSS_V4', '4.0'],
  ['CVSS_V3', '3.1'],
  ['CVSS_V2', '2.0'],
])

/** `severity[].score` is a vector, not a number; a distribution's own type has a word there. */
function readRating({ type, score }: JsonObject): Rating {
  const version = VERSION_OF_TYPE.get(textOf(type) ?? '')
  if (version === undefined) return inWords(severityInWords(textOf(score)), false)
  const vector = cvssVectorOf(textOf(score), version)
  return { isOwn: false, severity: null, score: null, cvssVersion: vector?.version ?? null, vector }
}

function inWords(severity: Severity | null, isOwn: boolean): Rating {
  return { isOwn, severity, score: null, cvssVersion: null, vector: null }
}
