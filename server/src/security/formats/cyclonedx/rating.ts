import { type JsonObject, memberOf, objectsOf, textOf } from '../../../platform/json/read-value.ts'
import { type CvssVersion, cvssVectorOf } from '../../vocabulary/cvss-vector.ts'
import { type Rating, ratingScore, severityInWords } from '../../vocabulary/rating.ts'

const VERSION_OF_METHOD = new Map<string, CvssVersion>([
  ['CVSSv4', '4.0'],
  ['CVSSv31', '3.1'],
  ['CVSSv3', '3.0'],
  ['CVSSv2', '2.0'],
])

const RATINGS_MAX = 100

/** How likely an attack is, or that one was seen, is no severity; some tools give it as a rating without a method. */
const NOT_SEVERITY = /epss|kev|exploited/i

/** The ratings of a vulnerability. A score by another method than CVSS is on another scale, and only its severity in words counts. */
export function ratingsOf(vulnerability: JsonObject): Rating[] {
  const finder = nameOf(vulnerability)
  return objectsOf(vulnerability.ratings)
    .slice(0, RATINGS_MAX)
    .map((rating) => readRating(rating, finder))
}

function readRating(rating: JsonObject, finder: string | null): Rating {
  const method = textOf(rating.method)
  const stated = VERSION_OF_METHOD.get(method ?? '') ?? null
  const vector = cvssVectorOf(textOf(rating.vector), stated)
  const cvssVersion = vector?.version ?? stated
  const source = nameOf(rating)
  const hasScale = cvssVersion !== null || (method === null && !NOT_SEVERITY.test(source ?? ''))
  return {
    isOwn: source !== null && source === finder,
    severity: severityInWords(textOf(rating.severity)),
    score: hasScale ? ratingScore(rating.score) : null,
    cvssVersion,
    vector,
  }
}

function nameOf(sourced: JsonObject): string | null {
  return textOf(memberOf(sourced, 'source', 'name'))?.toLowerCase() ?? null
}
