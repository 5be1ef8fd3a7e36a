import type { EvidenceTerms } from './policy.schema.ts'
import type { PolicyInput } from './policy-input.schema.ts'

type Evidence = { trust: string; at: string }

/** What a rule accepts without `trust: any`. */
const ACCEPTED = ['verified', 'uploaded']

/** Whether a rule with these terms sees what has this trust. */
export function isAdmitted(terms: Pick<EvidenceTerms, 'trust'>, trust: string): boolean {
  return terms.trust === 'any' || ACCEPTED.includes(trust)
}

/**
 * Returns the input with only the evidence that the terms accept: without `trust: any`, nothing
 * that is self-reported or untrusted, and nothing older than `max_age_ms`. Open findings and issues
 * are always kept, because removing them would make the repository look safer than it is.
 */
export function filterEvidence(input: PolicyInput, { trust, max_age_ms }: EvidenceTerms): PolicyInput {
  const isTrusted = (item: { trust: string }) => isAdmitted({ trust }, item.trust)
  const since = max_age_ms === null ? Number.NEGATIVE_INFINITY : Date.parse(input.now) - max_age_ms
  const isAccepted = (item: Evidence) => isTrusted(item) && Date.parse(item.at) >= since
  return {
    ...input,
    run: input.run !== null && isTrusted(input.run) ? input.run : null,
    attempts: input.attempts.filter(isTrusted),
    reports: input.reports.filter(isAccepted),
    attestations: input.attestations.filter(isAccepted),
    artifacts: input.artifacts.filter(isAccepted),
    scans: input.scans.filter(isAccepted),
  }
}
