/** Every severity, worst first (decisions §7). */
export const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info'] as const
export type Severity = (typeof SEVERITIES)[number]

/** The number that stands for a severity where severities are compared or stored: 4 is critical, 0 is info. */
export function severityRank(severity: Severity): number {
  return SEVERITIES.length - 1 - SEVERITIES.indexOf(severity)
}

/** The lowest score of each severity (CVSS 3.1 §5, and what `security-severity` in SARIF means). */
const SCORE_FLOORS: [number, Severity][] = [
  [9, 'critical'],
  [7, 'high'],
  [4, 'medium'],
]

/** Severity of a score over 0 up to 10. */
export function severityOfScore(score: number): Severity {
  return SCORE_FLOORS.find(([floor]) => score >= floor)?.[1] ?? 'low'
}

/** A score over 0 up to 10 as reports write it, a number or its text; anything else is no score. */
export function scoreOf(value: unknown): number | null {
  const score = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof score === 'number' && score > 0 && score <= 10 ? score : null
}
