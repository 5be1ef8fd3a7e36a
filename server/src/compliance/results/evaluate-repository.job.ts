import { findRunRepository, listRunRepositories } from '../../ci/evidence/newest-runs.store.ts'
import type { AddressChange } from '../../ci/runs/run-row.store.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/sql.ts'
import { defineJob, defineScheduledJob, enqueue } from '../../platform/queue/job.ts'
import { definePayload, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/queue/update.ts'
import { listRepositories } from '../../repositories/repository.store.ts'
import { findUploadSubject, listReportedNames } from '../../security/issues/policy-facts.store.ts'
import type { Services } from '../../services.ts'
import { type Asking, evaluateQuestion, POLICIES } from '../engines/evaluate-policy.ts'
import { PolicyAsker, PolicyBudgetError } from '../engines/policy-queue.ts'
import { type AdmittingTerms, listQuestions } from '../policies/evidence-view.ts'
import { getScope, type PolicyEngine } from '../policies/policy.schema.ts'
import {
  findBundle,
  hasPolicies,
  listOrganizationsWithPolicies,
  listPolicies,
  type Policy,
} from '../policies/policy.store.ts'
import { getCoveredBranches, isRepositoryCovered } from '../policies/policy-binding.ts'
import { createUnreadableVerdict, getResultStatus, mergeWorse, type RuleVerdict } from '../policies/policy-verdict.ts'
import {
  getHostlessName,
  isNamed,
  mergeRepositoryNames,
  type RepositoryInputs,
  readRepositoryInputs,
} from './read-repository-inputs.ts'
import { deleteHostlessResults, deleteOtherResults, type NewResult, upsertResults } from './result.store.ts'

/** When a repository is evaluated again whose policies have waited too long for their turn. */
const OVER_BUDGET_MS = MINUTE_MS

/** Updates the results of a repository. Waiting jobs for one repository are merged. */
export const evaluateRepositoryJob = defineJob('compliance.evaluate-repository', {
  class: 'bulk',
  waitsFor: () => POLICIES,
  payload: definePayload({ org_id: text, repository: text }),
  attemptsMax: 10,
  once: ({ org_id, repository }) => `${org_id} ${repository}`,
  async run(services: Services, { org_id, repository }): Promise<void> {
    try {
      await evaluateRepository(services, org_id, repository)
    } catch (error) {
      if (!(error instanceof PolicyBudgetError)) throw error
      await enqueue(services.sql, evaluateRepositoryJob, { org_id, repository }, OVER_BUDGET_MS)
    }
  },
  updates: () => [update('compliance_result')],
})

/**
 * Stores a result for each policy that covers the repository. Deletes others (decisions §10).
 * Throws `PolicyBudgetError`, and stores nothing then.
 */
export async function evaluateRepository(services: Services, orgId: string, repository: string): Promise<void> {
  const { sql, clock } = services
  const now = clock.now()
  const stored = await listPolicies(sql, orgId, { repository })
  const policies = stored.filter(({ definition }) => isRepositoryCovered(definition, repository))
  const results: NewResult[] = []
  if (policies.length > 0) {
    const inputs = await readRepositoryInputs(sql, orgId, repository, now)
    const findIn = (sha256: string) => findBundle(sql, orgId, sha256)
    const own = { findBundle: findIn, asker: new PolicyAsker(orgId) }
    const ofRepositories = { findBundle: findIn, asker: new PolicyAsker(orgId, { isRepository: true }) }
    for (const policy of policies)
      results.push(await evaluate(services, policy.path === null ? own : ofRepositories, policy, inputs))
  }
  const hostless = getHostlessName(repository)
  await sql.begin(async (tx) => {
    if (hostless !== null) await deleteHostlessResults(tx, orgId, hostless)
    await deleteOtherResults(tx, orgId, repository, results)
    await upsertResults(tx, { org_id: orgId, repository, results, at: now })
  })
}

async function evaluate(
  services: Services,
  asking: Asking,
  { id, name, definition }: Policy,
  inputs: RepositoryInputs,
): Promise<NewResult> {
  const result = { policy_id: id, policy_name: name }
  if (!definition?.bindings) return { ...result, ...evaluated(createUnreadableVerdict()) }
  const branches = getCoveredBranches(definition)
  let verdicts: RuleVerdict[] = []
  for (const { engine, terms } of listQuestions(definition.engine).flatMap(splitByTrust)) {
    const scoped = await inputs({ branches }, terms)(getScope(definition))
    for (const input of scoped.inputs) {
      // No run and no security report of the repository is known.
      if (input.run === null && input.scans.length === 0) return { ...result, status: 'not_evaluated', details: [] }
      verdicts = mergeWorse(verdicts, await evaluateQuestion(services, engine, input, asking))
    }
  }
  return { ...result, ...evaluated(inOrder(definition.engine, verdicts)) }
}

/** The rules of a policy by what they admit: the newest run of their lanes can be another one. */
function splitByTrust(engine: PolicyEngine): { engine: PolicyEngine; terms: AdmittingTerms }[] {
  if (engine.type !== 'cel') return [{ engine, terms: engine }]
  const rules = Map.groupBy(engine.rules, ({ trust, absent_evidence }) => `${trust} ${absent_evidence}`)
  return [...rules.values()].flatMap(([first, ...others]) =>
    first ? [{ engine: { ...engine, rules: [first, ...others] }, terms: first }] : [],
  )
}

/** The verdicts in the order of the policy's rules. */
function inOrder(engine: PolicyEngine, verdicts: RuleVerdict[]): RuleVerdict[] {
  if (engine.type !== 'cel') return verdicts
  const places = new Map(engine.rules.map(({ rule }, index) => [rule, index]))
  return verdicts.toSorted((a, b) => (places.get(a.rule) ?? 0) - (places.get(b.rule) ?? 0))
}

function evaluated(rules: RuleVerdict[]): Pick<NewResult, 'status' | 'details'> {
  const details = rules.map(({ rule, status, reason, evidence }) => {
    const texts = [reason, evidence].filter((text) => text !== null)
    return { rule, result: status, evidence: texts.length === 0 ? null : texts.join(' · ') }
  })
  return { status: getResultStatus(rules), details }
}

const REPOSITORIES_MAX = 10_000

/** Evaluates every repository once a day, because evidence expires without any event. */
export const evaluateDaily = defineScheduledJob<Services>('compliance.evaluate-daily', {
  schedule: '30 3 * * *',
  run: (services) => refreshAllResults(services),
})

/** After a run ended or one of its jobs sent a report: evaluates the run's repository. */
export async function refreshRunResults({ sql }: Services, { org_id, run_id }: { org_id: string; run_id: string }) {
  if (!(await hasPolicies(sql, org_id))) return
  const repository = await findRunRepository(sql, org_id, run_id)
  if (repository !== null) await enqueue(sql, evaluateRepositoryJob, { org_id, repository })
}

/** After the runs of a repository got another address: its results are those of this address. */
export async function refreshRenamedResults({ sql }: Services, { org_id, from, to }: AddressChange) {
  await sql.begin(async (tx) => {
    await deleteOtherResults(tx, org_id, from, [])
    if (await hasPolicies(tx, org_id)) await enqueue(tx, evaluateRepositoryJob, { org_id, repository: to })
  })
}

/** After a security report was read: evaluates every repository of the report's name. */
export async function refreshUploadResults({ sql }: Services, upload: { org_id: string; upload_id: string }) {
  const { org_id, upload_id } = upload
  if (!(await hasPolicies(sql, org_id))) return
  const subject = await findUploadSubject(sql, org_id, upload_id)
  if (subject === null) return
  await enqueueAll(sql, org_id, (repository) => isNamed(repository, subject.name))
}

/** After the gates of a deployment were bypassed: evaluates its repository. */
export async function refreshRepositoryResults(
  { sql }: Services,
  { org_id, repository }: { org_id: string; repository: string },
) {
  if (await hasPolicies(sql, org_id)) await enqueue(sql, evaluateRepositoryJob, { org_id, repository })
}

/** After alerts changed or findings were triaged: evaluates every repository of this name. */
export async function refreshNamedResults({ sql }: Services, changed: { org_id: string; repository: string }) {
  if (!(await hasPolicies(sql, changed.org_id))) return
  await enqueueAll(sql, changed.org_id, (repository) => isNamed(repository, changed.repository))
}

/** After a policy was applied: evaluates every repository of its organization. */
export async function refreshOrganizationResults({ sql }: Services, { org_id }: { org_id: string }): Promise<void> {
  await enqueueAll(sql, org_id, () => true)
}

/** After vulnerability intelligence was imported, and once a day: evaluates every repository. */
export async function refreshAllResults({ sql }: Services): Promise<void> {
  for (const orgId of await listOrganizationsWithPolicies(sql)) await enqueueAll(sql, orgId, () => true)
}

async function enqueueAll(db: Db, org_id: string, isAffected: (repository: string) => boolean): Promise<void> {
  const [runs, linked, reported] = await Promise.all([
    listRunRepositories(db, org_id, REPOSITORIES_MAX),
    listRepositories(db, org_id),
    listReportedNames(db, org_id, REPOSITORIES_MAX),
  ])
  const present = linked.filter(({ deleted_at }) => deleted_at === null)
  const repositories = mergeRepositoryNames({ runs, linked: present, reported }).filter(isAffected)
  await Promise.all(repositories.map((repository) => enqueue(db, evaluateRepositoryJob, { org_id, repository })))
}
