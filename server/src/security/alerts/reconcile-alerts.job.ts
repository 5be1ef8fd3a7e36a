import type { Provider } from '../../codehosts/catalogue.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { runStoppable } from '../../platform/db/transaction.ts'
import { defineEvent, publish } from '../../platform/queue/event.ts'
import { defineJob } from '../../platform/queue/job.ts'
import { definePayload, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/queue/update.ts'
import { findById, type LinkedRepository } from '../../repositories/repository.store.ts'
import {
  formatRepositoryKey,
  isTracked,
  parseBranchName,
  REPOSITORY_KEY,
} from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'
import { KnownRules } from '../issues/grouping/known-rules.ts'
import type { StreamReport } from '../reconcile/finding-stream.store.ts'
import { copyIncoming, type Incoming } from '../reconcile/incoming.store.ts'
import { reconcileStated } from '../reconcile/reconcile-report.ts'
import { type IncomingFinding, ReportMembers, STATED_COLUMNS } from '../reconcile/report-members.ts'
import { upsertAlertLinks } from '../reconcile/stated-pairs.store.ts'
import { lockReportedRepository } from '../repositories/reported-repository.store.ts'
import { updateNamedRepository } from '../repositories/seen-repository.store.ts'
import { selectRepository } from '../repositories/select-repository.ts'
import { followStatements } from '../vex/apply-statements.ts'
import { toAlertFinding } from './alert-finding.ts'
import { type AlertRepository, type DueAlert, listDueAlerts, lockAlertFindings } from './host-alert.store.ts'

const ATTEMPTS_MAX = 10

/** Brings the findings of a repository's alerts in line with the alerts that changed. */
export const reconcileAlertsJob = defineJob('security.reconcile-alerts', {
  class: 'bulk',
  payload: REPOSITORY_KEY,
  attemptsMax: ATTEMPTS_MAX,
  once: formatRepositoryKey,
  run: reconcileRepository,
})

async function reconcileRepository(
  services: Services,
  repository: AlertRepository,
  stopping?: AbortSignal,
): Promise<void> {
  const { org_id, provider, repository_id } = repository
  const known = await findById(services.sql, org_id, provider, repository_id)
  if (known === null) return
  const repositoryNo = await nameReported(services, org_id, known)
  let isDone = false
  while (!isDone) {
    await runStoppable(services.sql, stopping, async (tx) => {
      isDone = await reconcileNext(services, tx, repository, { ...known, no: repositoryNo })
    })
  }
}

/** In a transaction of its own, because reports lock their streams before their repository. */
async function nameReported({ sql, clock }: Services, orgId: string, { full_name, provider, id }: LinkedRepository) {
  return sql.begin(async (tx) => {
    const reference = { name: full_name, provider: provider as Provider, providerId: id }
    const resolved = await selectRepository(tx, orgId, reference)
    await updateNamedRepository(tx, orgId, resolved)
    return lockReportedRepository(tx, orgId, resolved, clock.now())
  })
}

/** A transaction reads so many alerts into memory. */
const ALERTS_AT_ONCE = 2000

/** Reconciles the next alerts of one ref. Returns whether none is left. */
async function reconcileNext(
  services: Services,
  tx: Tx,
  repository: AlertRepository,
  known: NumberedRepository,
): Promise<boolean> {
  await lockAlertFindings(tx, repository)
  const due = await listDueAlerts(tx, repository, ALERTS_AT_ONCE)
  const [first] = due
  if (first === undefined) return true
  const getRef = ({ git_ref }: DueAlert) => {
    const ref = git_ref ?? known.tracked_branch
    // Both forms of a branch are one ref. Refs of other kinds have their own names.
    return parseBranchName(ref) ?? ref
  }
  const gitRef = getRef(first)
  const findings = due.filter((alert) => getRef(alert) === gitRef).map(toAlertFinding)
  const stream = toStreamReport(repository.org_id, known, gitRef, services.clock.now())
  const incoming = await copyAlerts(services, tx, findings, stream.tracked)
  const versions = new Map(findings.map(({ tool, tool_version }) => [tool, tool_version]))
  const keys = [...versions.keys()].map((tool) => ({ tool, tool_family: null, subject: null }))
  const report = { ...stream, keys, versions, link: upsertAlertLinks }
  const isChanged = await reconcileStated(incoming, report, services.clock)
  const { org_id, repository_no, reported_at: at } = stream
  if (isChanged) await followStatements(tx, { org_id, repository_no, at })
  if (isChanged) await publish(tx, alertsChanged, { org_id: repository.org_id, repository: known.full_name })
  return false
}

/** A known repository, and its number as a reported one. */
type NumberedRepository = LinkedRepository & { no: number }

function toStreamReport(orgId: string, known: NumberedRepository, gitRef: string, now: Date): StreamReport {
  return {
    org_id: orgId,
    repository_no: known.no,
    upload_id: null,
    lane: null,
    category: null,
    git_ref: gitRef,
    commit_sha: null,
    tracked: isTracked(gitRef, known.tracked_branch),
    source: known.provider as Provider,
    origin: 'alert',
    reported_at: now,
  }
}

async function copyAlerts(
  services: Services,
  tx: Tx,
  findings: readonly IncomingFinding[],
  isTracked: boolean,
): Promise<Incoming> {
  // The hash of a secret was made when its alert was stored.
  const members = new ReportMembers(isTracked, (hash) => hash, new KnownRules(services.ruleMap))
  const copy = await copyIncoming(tx, members, STATED_COLUMNS)
  try {
    await copy.write(findings)
    return await copy.end()
  } catch (error) {
    await copy.abort(error as Error)
    throw error
  }
}

/**
 * Published when findings of alerts changed. `repository` is the name of the repository as
 * `owner/name`.
 */
export const alertsChanged = defineEvent('security.alerts.changed', {
  payload: definePayload({ org_id: text, repository: text }),
  subject: ({ repository }) => ({ type: 'alert', id: null, repository }),
  updates: () => [update('alert'), update('finding'), update('issue')],
  once: ({ org_id, repository }) => `${org_id} ${repository}`,
})
