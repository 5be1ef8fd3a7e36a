import type { PolicyInput } from './policy-input.schema.ts'

const NOTHING_OPEN = {
  open: { critical: 0, high: 0, medium: 0, low: 0, info: 0 },
  known_exploited: 0,
  max_epss: 0,
}

/** The input where nothing is known. */
export function emptyInput(now: Date): PolicyInput {
  return {
    now: now.toISOString(),
    repository: '',
    run: null,
    attempts: [],
    reports: [],
    attestations: [],
    artifacts: [],
    scans: [],
    findings: NOTHING_OPEN,
    issues: NOTHING_OPEN,
    deployment: null,
    environment: null,
    truncated: [],
  }
}
