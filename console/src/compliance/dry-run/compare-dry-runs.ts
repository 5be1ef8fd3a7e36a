import type { operations } from '../../api/schema.ts'

export type DryRun = operations['dryRunPolicy']['responses'][200]['content']['application/json']['data']
type DryRunResult = DryRun['results'][number]

/** How the decision about a run or deployment differs from that of the applied version. */
type DryRunChange = 'newly_blocked' | 'newly_allowed' | 'newly_covered' | 'same'
export type ComparedResult = DryRunResult & {
  change: DryRunChange
  /** The rules that passed before and do not now, and the other way round, by their ids. */
  newlyFailing: string[]
  newlyPassing: string[]
}

/** Compares each result with that of the applied version, if there is one. */
export function compareDryRuns(tried: DryRun, applied: DryRun | null): ComparedResult[] {
  const before = new Map(applied?.results.map((result) => [subjectIdOf(result), result]))
  return tried.results.map((result) => {
    const earlier = before.get(subjectIdOf(result))
    return {
      ...result,
      change: applied === null ? 'same' : changeOf(result, earlier),
      newlyFailing: earlier ? rulesOf(result, 'fail', earlier, 'pass') : [],
      newlyPassing: earlier ? rulesOf(result, 'pass', earlier, 'fail') : [],
    }
  })
}

/** The id of the run or deployment. */
export function subjectIdOf({ run, deployment }: DryRunResult): string {
  return run?.id ?? deployment?.id ?? ''
}

function changeOf({ decision }: DryRunResult, earlier: DryRunResult | undefined): DryRunChange {
  if (earlier === undefined) return decision === 'block' ? 'newly_blocked' : 'newly_covered'
  if ((decision === 'block') === (earlier.decision === 'block')) return 'same'
  return decision === 'block' ? 'newly_blocked' : 'newly_allowed'
}

type Outcome = 'pass' | 'fail'

function rulesOf(now: DryRunResult, outcome: Outcome, earlier: DryRunResult, earlierOutcome: Outcome): string[] {
  const before = new Map(earlier.rules.map(({ rule, status }) => [rule, outcomeOf(status)]))
  return now.rules
    .filter(({ rule, status }) => outcomeOf(status) === outcome && before.get(rule) === earlierOutcome)
    .map(({ rule }) => rule)
}

function outcomeOf(status: DryRunResult['rules'][number]['status']): Outcome {
  return status === 'pass' ? 'pass' : 'fail'
}
