import type { PolicyInput } from './policy-input.schema.ts'

/** What a rule accepts as evidence. */
export type EvidenceTerms = {
  /** `any`: self-reported evidence counts, too. */
  trust: 'any' | null
  /** Evidence that is older counts as missing; null: it keeps for ever. */
  max_age_ms: number | null
}

type Evidence = { trust: string; at: string }

/**
 * The input as a rule may see it: without what a job says about itself, unless the rule says `trust: any`, and without
 * what is too old. What is open is never left out: bad news counts, whoever brings it and whenever.
 */
export function viewOf(input: PolicyInput, { trust, max_age_ms }: EvidenceTerms): PolicyInput {
  const believed = (item: { trust: string }) => trust === 'any' || item.trust !== 'self_reported'
  const since = max_age_ms === null ? Number.NEGATIVE_INFINITY : Date.parse(input.now) - max_age_ms
  const counts = (item: Evidence) => believed(item) && Date.parse(item.at) >= since
  return {
    ...input,
    run: input.run !== null && believed(input.run) ? input.run : null,
    attempts: input.attempts.filter(believed),
    reports: input.reports.filter(counts),
    attestations: input.attestations.filter(counts),
    artifacts: input.artifacts.filter(counts),
    scans: input.scans.filter(counts),
  }
}
