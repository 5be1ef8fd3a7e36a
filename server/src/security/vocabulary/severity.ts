import calculator from 'ae-cvss-calculator'
import { truncateText, VERSION_MAX } from './bounded-text.ts'

/** All severities, worst first (decisions §7). */
export const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info'] as const
export type Severity = (typeof SEVERITIES)[number]

/** The number by which severities are compared and stored: 4 for critical to 0 for info. */
export function toSeverityRank(severity: Severity): number {
  return SEVERITIES.length - 1 - SEVERITIES.indexOf(severity)
}

/** The lowest score of each severity (CVSS 3.1 §5; `security-severity` in SARIF uses the same). */
const SCORE_FLOORS: [number, Severity][] = [
  [9, 'critical'],
  [7, 'high'],
  [4, 'medium'],
]

/** The severity of a score from 0 to 10. A score of 0 means that there is no severity. */
export function classifyScore(score: number): Severity {
  return SCORE_FLOORS.find(([floor]) => score >= floor)?.[1] ?? (score > 0 ? 'low' : 'info')
}

/** A score from 0 to 10 as reports write it, as a number or as text; null for anything else. */
export function parseScore(value: unknown): number | null {
  const score = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  // Math.abs turns -0 into 0.
  return typeof score === 'number' && score >= 0 && score <= 10 ? Math.abs(score) : null
}

const WORDS: Record<string, Severity> = {
  critical: 'critical',
  blocker: 'critical',
  high: 'high',
  important: 'high',
  moderate: 'medium',
  medium: 'medium',
  low: 'low',
  info: 'info',
  information: 'info',
  informational: 'info',
  negligible: 'info',
  none: 'info',
}

/** The severity that a term names; null for `unknown` and any other term. */
export function parseSeverity(text: string | null): Severity | null {
  const word = text?.trim().toLowerCase() ?? ''
  return Object.hasOwn(WORDS, word) ? (WORDS[word] ?? null) : null
}

/** The rating of a vulnerability by one source. */
export type Rating = {
  /** True if the source is the one that found the vulnerability. */
  isOwn: boolean
  /** The severity in words, if the source states it. */
  severity: Severity | null
  /** From 0 to 10 on the scale of CVSS; null if the source uses another scale. */
  score: number | null
  cvssVersion: CvssVersion | null
  vector: CvssVector | null
}

/** The severity of a finding and the scores that it is based on. */
export type SeverityFields = {
  severity: Severity
  scanner_score: number | null
  cvss_version: string | null
  cvss_score: number | null
  cvss_vector: string | null
}

/** CVSS versions by decreasing trust. A rating that does not use CVSS comes last. */
const VERSION_ORDER: (CvssVersion | null)[] = ['4.0', '3.1', '3.0', '2.0', null]

/** The severity of a vulnerability without ratings. It may be serious, so it is not `info`. */
const UNRATED: Severity = 'medium'

/**
 * The severity by the most trusted rating: the one of the vulnerability's own source, else the
 * newest CVSS version, else the worst, so that the order in the report does not matter. A rating
 * counts by its severity in words, else by its score, else by the score of its vector.
 */
export function selectSeverity(ratings: readonly Rating[]): SeverityFields {
  const byTrust = ratings.map(scored).sort(compareTrust)
  const best = byTrust.find(({ severity }) => severity !== null)
  const cvss = byTrust.find(({ cvssVersion, score, vector }) => cvssVersion !== null && (score ?? vector) !== null)
  return {
    severity: best?.severity ?? UNRATED,
    scanner_score: best?.score ?? cvss?.score ?? null,
    cvss_version: cvss?.cvssVersion ?? null,
    cvss_score: cvss?.score ?? null,
    cvss_vector: truncateText(cvss?.vector?.vector ?? null, VERSION_MAX * 3),
  }
}

function scored(rating: Rating): Rating {
  const score = rating.score ?? (rating.vector === null ? null : computeCvssScore(rating.vector))
  return { ...rating, score, severity: rating.severity ?? (score === null ? null : classifyScore(score)) }
}

function compareTrust(a: Rating, b: Rating): number {
  return (
    Number(b.isOwn) - Number(a.isOwn) ||
    VERSION_ORDER.indexOf(a.cvssVersion) - VERSION_ORDER.indexOf(b.cvssVersion) ||
    getRank(b) - getRank(a) ||
    (b.score ?? -1) - (a.score ?? -1)
  )
}

function getRank({ severity }: Rating): number {
  return severity === null ? -1 : toSeverityRank(severity)
}

export type CvssVersion = '4.0' | '3.1' | '3.0' | '2.0'
type CvssVector = { version: CvssVersion; vector: string }

const VECTOR_MAX = 300

const CALCULATORS = {
  '4.0': calculator.Cvss4P0,
  '3.1': calculator.Cvss3P1,
  '3.0': calculator.Cvss3P0,
  '2.0': calculator.Cvss2,
}

/**
 * Metrics of the environmental group. They change the score; tools leave out temporal metrics,
 * which are part of every score of version 4 (CVSS 4.0 §1.3).
 */
const ENVIRONMENTAL = /\/(?:M[A-Z]{1,2}|[CIA]R):/

/**
 * The vector in standard form: with the version as prefix, except in version 2. Tools also write
 * version 3 without prefix and version 2 in parentheses. `stated` is the version that the report
 * states for such a vector. Null for any other text.
 */
export function parseCvssVector(text: string | null, stated: CvssVersion | null): CvssVector | null {
  const [, prefix, metrics] =
    /^\(?(?:CVSS:(\d\.\d)\/)?([A-Za-z]{1,3}:[A-Za-z]{1,6}(?:\/[A-Za-z]{1,3}:[A-Za-z]{1,6}){3,40})\)?\/?$/.exec(
      text?.slice(0, VECTOR_MAX).trim() ?? '',
    ) ?? []
  if (metrics === undefined) return null
  const version = prefix ?? versionByMetrics(metrics) ?? stated ?? '3.1'
  if (!isVersion(version)) return null
  return { version, vector: version === '2.0' ? metrics : `CVSS:${version}/${metrics}` }
}

function isVersion(version: string): version is CvssVersion {
  return Object.hasOwn(CALCULATORS, version)
}

/** Only version 2 has Authentication (Au), and only version 4 has Attack Requirements (AT). */
function versionByMetrics(metrics: string): CvssVersion | null {
  if (metrics.includes('Au:')) return '2.0'
  return metrics.includes('/AT:') ? '4.0' : null
}

/** The score of a vector, from 0 to 10; null if it lacks metrics or has unknown ones. */
export function computeCvssScore({ version, vector }: CvssVector): number | null {
  try {
    const cvss = new CALCULATORS[version](vector)
    if (!cvss.isBaseFullyDefined()) return null
    const scores = cvss.calculateScores()
    if (version === '4.0' || ENVIRONMENTAL.test(vector)) return scores.overall
    return ('baseMetricsOnly' in scores ? scores.baseMetricsOnly : scores.base) ?? null
  } catch {
    return null
  }
}
