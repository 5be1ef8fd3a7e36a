import calculator from 'ae-cvss-calculator'

export type CvssVersion = '4.0' | '3.1' | '3.0' | '2.0'
export type CvssVector = { version: CvssVersion; vector: string }

const VECTOR_MAX = 300

const CALCULATORS = {
  '4.0': calculator.Cvss4P0,
  '3.1': calculator.Cvss3P1,
  '3.0': calculator.Cvss3P0,
  '2.0': calculator.Cvss2,
}

/** Metrics of the environmental group. They change the score; tools leave out temporal metrics. */
const ENVIRONMENTAL = /\/(?:M[A-Z]{1,2}|[CIA]R):/

/**
 * The vector in standard form: with the version as prefix, except in version 2. Tools also write
 * version 3 without prefix and version 2 in parentheses. `stated` is the version that the report
 * states for such a vector. Null for any other text.
 */
export function cvssVectorOf(text: string | null, stated: CvssVersion | null): CvssVector | null {
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
export function cvssScoreOf({ version, vector }: CvssVector): number | null {
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
