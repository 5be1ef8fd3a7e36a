import calculator from 'ae-cvss-calculator'

/** The severities that a `scan` attestation counts, worst first. */
export const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const
export type Severity = (typeof SEVERITIES)[number]
/** `info` is not counted. */
export type AnySeverity = Severity | 'info'

export type SeverityCounts = Record<Severity, number>

export function noFindings(): SeverityCounts {
  return { critical: 0, high: 0, medium: 0, low: 0 }
}

/** The severity of a score from 0 to 10 (CVSS 3.1 §5; `security-severity` of SARIF is the same). */
export function severityOfScore(score: number): AnySeverity {
  if (score >= 9) return 'critical'
  if (score >= 7) return 'high'
  if (score >= 4) return 'medium'
  return score > 0 ? 'low' : 'info'
}

/** A score from 0 to 10, as a number or as text; null for anything else. */
export function scoreOf(value: unknown): number | null {
  const score = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof score === 'number' && score >= 0 && score <= 10 ? score : null
}

const WORDS = new Map<string, AnySeverity>([
  ...SEVERITIES.map((severity) => [severity, severity] as const),
  ['moderate', 'medium'],
  ['info', 'info'],
  ['none', 'info'],
])

/** The severity that a term names; null for `unknown` and any other term. */
export function severityInWords(value: unknown): AnySeverity | null {
  return typeof value === 'string' ? (WORDS.get(value.toLowerCase()) ?? null) : null
}

const CALCULATORS = {
  '4.0': calculator.Cvss4P0,
  '3.1': calculator.Cvss3P1,
  '3.0': calculator.Cvss3P0,
  '2.0': calculator.Cvss2,
}
export type CvssVersion = keyof typeof CALCULATORS

const VECTOR = /^\(?(?:CVSS:(\d\.\d)\/)?([A-Za-z]{1,3}:[A-Za-z]{1,6}(?:\/[A-Za-z]{1,3}:[A-Za-z]{1,6}){3,40})\)?\/?$/
/** Environmental metrics change the score; tools leave out temporal metrics. */
const ENVIRONMENTAL = /\/(?:M[A-Z]{1,2}|[CIA]R):/

/**
 * The version and score of a CVSS vector. `stated` is the version that the report states for a vector
 * without prefix. Null for any other text; the score is null if metrics are missing.
 */
export function cvssOf(
  vector: unknown,
  stated: CvssVersion | null,
): { version: CvssVersion; score: number | null } | null {
  const [, prefix, metrics] = VECTOR.exec(typeof vector === 'string' ? vector.slice(0, 300).trim() : '') ?? []
  if (metrics === undefined) return null
  const version = prefix ?? versionByMetrics(metrics) ?? stated ?? '3.1'
  if (!isVersion(version)) return null
  return { version, score: scoreOfMetrics(version, version === '2.0' ? metrics : `CVSS:${version}/${metrics}`) }
}

function isVersion(version: string): version is CvssVersion {
  return Object.hasOwn(CALCULATORS, version)
}

/** Only version 2 has Authentication (Au), and only version 4 has Attack Requirements (AT). */
function versionByMetrics(metrics: string): CvssVersion | null {
  if (metrics.includes('Au:')) return '2.0'
  return metrics.includes('/AT:') ? '4.0' : null
}

function scoreOfMetrics(version: CvssVersion, vector: string): number | null {
  try {
    const cvss = new CALCULATORS[version](vector)
    if (!cvss.isBaseFullyDefined()) return null
    const scores = cvss.calculateScores()
    if (ENVIRONMENTAL.test(vector)) return scores.overall
    return ('baseMetricsOnly' in scores ? scores.baseMetricsOnly : scores.base) ?? null
  } catch {
    return null
  }
}
