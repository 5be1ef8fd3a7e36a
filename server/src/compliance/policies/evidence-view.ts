import { isRunOfStrangers } from '../../ci/runs/trust.ts'
import type { DefaultTrust } from '../../organizations/organization.store.ts'
import { findEvidence, findSourceNotImported, getNamedTrust } from './found-evidence.ts'
import { type EvidenceTerms, type PolicyDefinition, type PolicyEngine, TRUSTS, type Trust } from './policy.schema.ts'
import type { PolicyInput } from './policy-input.schema.ts'
import { createErrorAnswer, type RuleAnswer } from './policy-verdict.ts'

type Evidence = { trust: string; at: string }

/** What a rule admits: lanes as users read them (trust §2). A hand upload is in none. */
const ADMITTED: Record<Trust, readonly string[]> = {
  verified: ['verified'],
  uploaded: ['verified', 'uploaded'],
  any: ['verified', 'uploaded', 'self_reported'],
}

/** The part of the terms that says whose evidence counts. */
export type AdmittingTerms = Pick<EvidenceTerms, 'trust' | 'absent_evidence'>

/**
 * Whether a rule with these terms sees what has this trust. `isOfStrangers`: it is about a run in
 * which code of strangers may have run, and that is not of the tracked branch.
 */
export function isAdmitted(terms: AdmittingTerms, trust: string, isOfStrangers: boolean): boolean {
  // Rules that were stored before see what they saw (trust §9).
  if (terms.absent_evidence === undefined && terms.trust === 'any') return true
  const named = getNamedTrust(terms)
  return ADMITTED[named].includes(trust) || (named === 'any' && trust === 'untrusted' && isOfStrangers)
}

/**
 * Returns the input with only the evidence that the terms admit, and nothing older than
 * `max_age_ms`. Open findings and issues are always those of all lanes, because removing some would
 * make the repository look safer than it is.
 */
export function filterEvidence(input: PolicyInput, terms: EvidenceTerms): PolicyInput {
  const view = selectEvidence(input, terms)
  return terms.absent_evidence === 'error'
    ? omitUnknown(view, findEvidence(view.scans, { ...input, evidence: view.evidence }, terms))
    : view
}

/**
 * The same for a policy that reads the whole input, where what is absent need not be an error: what
 * is known to be open stays, because it is bad news whoever has looked.
 */
export function filterInput(input: PolicyInput, terms: EvidenceTerms): PolicyInput {
  const filtered = filterEvidence(input, terms)
  const { findings, issues } = input
  return {
    ...filtered,
    ...(findings && !filtered.findings && isAnyOpen(findings) && { findings }),
    ...(issues && !filtered.issues && isAnyOpen(issues) && { issues }),
  }
}

function isAnyOpen({ open }: Counts): boolean {
  return Object.values(open).some((count) => count > 0)
}

function selectEvidence(input: PolicyInput, terms: EvidenceTerms): PolicyInput {
  const { max_age_ms } = terms
  const isOfStrangers = isRunOfStrangers(input.run, input.evidence.tracked_branch)
  const isTrusted = ({ trust }: { trust: string }) => isAdmitted(terms, trust, isOfStrangers)
  const since = max_age_ms === null ? Number.NEGATIVE_INFINITY : Date.parse(input.now) - max_age_ms
  const { truncated } = input.evidence
  const isAccepted = (item: Evidence) => isTrusted(item) && Date.parse(item.at) >= since
  return {
    ...input,
    run: input.run !== null && isTrusted(input.run) ? input.run : null,
    attempts: input.attempts.filter(isTrusted),
    reports: input.reports.filter(isAccepted),
    attestations: input.attestations.filter(isAccepted),
    artifacts: input.artifacts.filter(isAccepted),
    scans: input.scans.filter(isAccepted),
    ...(truncated && { evidence: { ...input.evidence, truncated: truncated.filter((trust) => isTrusted({ trust })) } }),
  }
}

/** What is not known is absent: that nothing is open, and figures of what was never imported. */
function omitUnknown({ findings, issues, ...view }: PolicyInput, evidence: PolicyInput['evidence']): PolicyInput {
  if (evidence.missing !== null) return { ...view, evidence }
  return {
    ...view,
    evidence,
    ...(findings && { findings: omitNotImported(findings, evidence) }),
    ...(issues && { issues: omitNotImported(issues, evidence) }),
  }
}

type Counts = NonNullable<PolicyInput['findings']>

function omitNotImported({ open, ...facts }: Counts, evidence: PolicyInput['evidence']): Counts {
  const imported = Object.entries(facts).filter(([fact]) => findSourceNotImported(fact, evidence) === null)
  return { open, ...Object.fromEntries(imported) }
}

/**
 * The answer of a rule that reads what jobs report. Where too much of it was left out, the answer
 * is an error unless the rule fails anyway (ci-evidence §8.5).
 */
export function rejectTruncated(answer: RuleAnswer, { evidence: { truncated = [] } }: PolicyInput): RuleAnswer {
  if (truncated.length === 0 || answer.status === 'fail' || answer.status === 'error') return answer
  const what = `The commit has more reports than policies can read, so that some (${truncated.join(', ')}) were left out.`
  return { ...answer, ...createErrorAnswer(`evidence_truncated: ${what}`) }
}

/**
 * The questions that a policy asks: one, and for what wants bad news of others a second one with
 * their lanes added (trust §2).
 */
export function listQuestions(engine: PolicyEngine): PolicyEngine[] {
  if (engine.type !== 'cel') return wantsBadNews(engine) ? [engine, admitBadNews(engine)] : [engine]
  const rules = engine.rules.filter(wantsBadNews).map(admitBadNews)
  return rules.length === 0 ? [engine] : [engine, { ...engine, rules }]
}

/** Each trust admits what the one before it does. */
function wantsBadNews({ bad_news, ...terms }: AdmittingTerms & Pick<EvidenceTerms, 'bad_news'>): boolean {
  return bad_news !== undefined && TRUSTS.indexOf(bad_news) > TRUSTS.indexOf(getNamedTrust(terms))
}

function admitBadNews<Terms extends EvidenceTerms>(terms: Terms): Terms {
  return { ...terms, trust: terms.bad_news ?? terms.trust }
}

/** The definition in an organization: what names no trust admits what the organization says. */
export function applyDefaultTrust(definition: PolicyDefinition, trust: DefaultTrust): PolicyDefinition {
  const settle = <Terms extends AdmittingTerms>(terms: Terms): Terms =>
    terms.trust === 'default' ? { ...terms, trust } : terms
  const { engine } = definition
  const settled: PolicyEngine = engine.type === 'cel' ? { ...engine, rules: engine.rules.map(settle) } : settle(engine)
  return { ...definition, engine: settled }
}
