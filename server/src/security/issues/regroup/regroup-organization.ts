import { regroupUndone } from '../../../errors/commands.ts'
import { createUuid } from '../../../platform/ids.ts'
import type { Services } from '../../../services.ts'
import type { IssueChange } from '../grouping/issue-change.ts'
import { KnownRules } from '../grouping/known-rules.ts'
import { type Regrouping, regroupBatch, reserveRepository } from './regroup-repository.ts'
import { type RegroupRun, requireRun, upsertRun } from './regroup-run.store.ts'

/** About as many issues as one short transaction can regroup. */
export const ISSUES_AT_ONCE = 5000

/**
 * Repositories that a process regroups at the same time, each on a connection of its own: while
 * PostgreSQL writes the findings of one, another one is grouped.
 */
export const REPOSITORIES_AT_ONCE = 3

/** Called after each batch with the run's progress and the batch's changes. */
type Follow = (run: RegroupRun, changes: readonly IssueChange[]) => void

/**
 * Regroups all findings of an organization by the current rules, in short transactions, and writes
 * what differs. An interrupted run continues where it stopped. Throws 409 if a run is being undone.
 */
export async function regroupOrganization(
  services: Services,
  orgId: string,
  follow: Follow,
  issuesAtOnce = ISSUES_AT_ONCE,
): Promise<RegroupRun> {
  const { sql, clock } = services
  const { id, status } = await upsertRun(sql, orgId, createUuid(clock.now()), clock.now())
  if (status === 'undoing') throw regroupUndone(id)
  const rules = new KnownRules(services.ruleMap)
  const regrouping = { orgId, runId: id, rules, issuesAtOnce, taken: new Set<number>() }
  await besideEachOther((failed) => regroupRepositories(services, regrouping, follow, failed))
  return requireRun(sql, orgId, id)
}

/** If one fails, the others stop after their batch: nothing goes on when this function throws. */
async function besideEachOther(work: (failed: AbortSignal) => Promise<void>): Promise<void> {
  const failed = new AbortController()
  const working = async () => {
    try {
      await work(failed.signal)
    } catch (error) {
      failed.abort(error)
    }
  }
  await Promise.all(Array.from({ length: REPOSITORIES_AT_ONCE }, working))
  failed.signal.throwIfAborted()
}

/** Regroups repositories, one after the other, until none is left. */
async function regroupRepositories(
  { sql, clock }: Services,
  regrouping: Regrouping,
  follow: Follow,
  failed: AbortSignal,
): Promise<void> {
  const take = () => sql.begin((tx) => reserveRepository(tx, regrouping, clock.now()))
  for (let next = await take(); next !== null && !failed.aborted; next = await take()) {
    const repositoryNo = next
    const regroup = () => sql.begin((tx) => regroupBatch(tx, regrouping, repositoryNo, clock.now()))
    for (let step = await regroup(); step !== null; step = await regroup()) {
      follow(step.run, step.changes)
      if (failed.aborted) return
    }
    regrouping.taken.delete(repositoryNo)
  }
}
