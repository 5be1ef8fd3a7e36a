import { boundedText, VERSION_MAX } from './bounded-text.ts'
import { type CvssVector, type CvssVersion, cvssScoreOf } from './cvss-vector.ts'
import { type Severity, severityOfScore, severityRank } from './severity.ts'

/** What one source says of how bad a vulnerability is. */
export type Rating = {
  /** The source that found the vulnerability says so itself. */
  isOwn: boolean
  /** The severity in words, where the source gives one. */
  severity: Severity | null
  /** 0 to 10 on the scale of CVSS; null when the source has another scale. */
  score: number | null
  cvssVersion: CvssVersion | null
  vector: CvssVector | null
}

/** The severity of a finding and the scores that it follows from. */
export type SeverityFields = {
  severity: Severity
  scanner_score: number | null
  cvss_version: string | null
  cvss_score: number | null
  cvss_vector: string | null
}

/** Trust by kind, best first; what is no CVSS comes last. */
const VERSION_ORDER: (CvssVersion | null)[] = ['4.0', '3.1', '3.0', '2.0', null]

/** A vulnerability that nobody rated. It must neither drown nor pass for harmless. */
const UNRATED: Severity = 'medium'

/**
 * Severity by the best-trusted rating: one by the vulnerability's own source before others, then by newest CVSS, and of equals the worst,
 * so that their order in the report does not matter. Its severity in words, else its score, else what its vector scores.
 */
export function severityFields(ratings: readonly Rating[]): SeverityFields {
  const byTrust = ratings.map(scored).sort(compareTrust)
  const best = byTrust.find(({ severity }) => severity !== null)
  const cvss = byTrust.find(({ cvssVersion, score, vector }) => cvssVersion !== null && (score ?? vector) !== null)
  return {
    severity: best?.severity ?? UNRATED,
    scanner_score: best?.score ?? cvss?.score ?? null,
    cvss_version: cvss?.cvssVersion ?? null,
    cvss_score: cvss?.score ?? null,
    cvss_vector: boundedText(cvss?.vector?.vector ?? null, VERSION_MAX * 3),
  }
}

function scored(rating: Rating): Rating {
  const score = rating.score ?? (rating.vector === null ? null : cvssScoreOf(rating.vector))
  return { ...rating, score, severity: rating.severity ?? (score === null ? null : severityOf(score)) }
}

function severityOf(score: number): Severity {
  return score === 0 ? 'info' : severityOfScore(score)
}

function compareTrust(a: Rating, b: Rating): number {
  return (
    Number(b.isOwn) - Number(a.isOwn) ||
    VERSION_ORDER.indexOf(a.cvssVersion) - VERSION_ORDER.indexOf(b.cvssVersion) ||
    rankOf(b) - rankOf(a) ||
    (b.score ?? -1) - (a.score ?? -1)
  )
}

function rankOf({ severity }: Rating): number {
  return severity === null ? -1 : severityRank(severity)
}

const WORDS: Record<string, Severity> = {
  critical: 'critical',
  high: 'high',
  moderate: 'medium',
  medium: 'medium',
  low: 'low',
  info: 'info',
  none: 'info',
}

/** A severity in words; null for `unknown` and whatever else is none. */
export function severityInWords(text: string | null): Severity | null {
  const word = text?.toLowerCase() ?? ''
  return Object.hasOwn(WORDS, word) ? (WORDS[word] ?? null) : null
}

/** A score of 0 to 10, a number or its text. */
export function ratingScore(value: unknown): number | null {
  const score = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof score === 'number' && score >= 0 && score <= 10 ? score : null
}
