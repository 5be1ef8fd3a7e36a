import type { Tx } from '../../platform/db/sql.ts'
import { defineEvent, publish } from '../../platform/queue/event.ts'
import { defineScheduledJob } from '../../platform/queue/job.ts'
import { definePayload, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { lockIntel } from '../intel/intel-source.store.ts'
import { lockRepository } from '../writing/grouping.store.ts'
import { listStaleIssues, type StaleIssues, updateThreats } from '../writing/issue-writing.store.ts'
import { KnownRules } from './grouping/known-rules.ts'
import {
  type DueRepository,
  deleteDueBuckets,
  deleteRuleChange,
  findDueRepository,
  findOutdatedOrganization,
  hasUnfinishedRun,
  insertDueBuckets,
} from './regroup.store.ts'
import { regroupBuckets } from './regroup-buckets.ts'
import { regroupOrganization } from './regroup-organization.ts'

/**
 * After an upgrade with new grouping rules, regroups the findings of every organization once. An
 * interrupted regroup continues within minutes. It can be undone as any other regroup.
 */
export const followRules = defineScheduledJob<Services>('security.follow-rules', {
  class: 'bulk',
  schedule: '* * * * *',
  async run(services, _payload, stopping) {
    const { sql, clock } = services
    let orgId = await findOutdatedOrganization(sql, clock.now())
    while (orgId !== null) {
      await regroupOutdated(services, orgId, stopping)
      orgId = await findOutdatedOrganization(sql, clock.now())
    }
  },
})

/** Published when the issues of an organization follow the rules of this version of the program. */
export const rulesFollowed = defineEvent('security.rules.followed', {
  class: 'bulk',
  payload: definePayload({ org_id: text }),
  subject: ({ org_id }) => ({ type: 'organization', id: org_id }),
  updates: () => [update('issue')],
})

/** An unfinished run may have applied the earlier rules to some repositories: another follows. */
async function regroupOutdated(services: Services, orgId: string, stopping?: AbortSignal): Promise<void> {
  const follow = () => stopping?.throwIfAborted()
  if (await hasUnfinishedRun(services.sql, orgId)) await regroupOrganization(services, orgId, follow)
  const { id, findings, moved, merged, split, reopened } = await regroupOrganization(services, orgId, follow)
  await services.sql.begin(async (tx) => {
    await deleteRuleChange(tx, orgId)
    await publish(tx, rulesFollowed, { org_id: orgId })
  })
  const counts = { findings, moved, merged, split, reopened }
  services.log.info({ org_id: orgId, regroup_id: id, ...counts }, 'Issues were regrouped by the current rules')
}

/**
 * Brings all issues in line with the intelligence after an import. It may be interrupted at any
 * time: the next run continues with what is left.
 */
export async function followIntel(services: Services): Promise<void> {
  await refreshThreats(services)
  await services.sql.begin(insertDueBuckets)
  await regroupDue(services)
}

/**
 * Updates the KEV flag and EPSS score that issues are filtered and sorted by. Only issues that
 * change are written, in short transactions beside the one that reads them.
 */
async function refreshThreats(services: Services): Promise<void> {
  await services.sql.begin(async (tx) => {
    for await (const parts of await listStaleIssues(tx)) {
      for (const stale of parts) await refreshIssues(services, stale)
    }
  })
}

async function refreshIssues({ sql }: Services, { org_id, repository_no, issue_ids }: StaleIssues): Promise<void> {
  await sql.begin(async (tx) => {
    await lockRepository(tx, org_id, repository_no)
    await lockIntel(tx)
    await updateThreats(tx, org_id, issue_ids)
  })
}

/** Regroups the due buckets, a part of one repository in each transaction. */
async function regroupDue({ sql, clock, ruleMap }: Services): Promise<void> {
  const rules = new KnownRules(ruleMap)
  for (let next = await findDueRepository(sql); next !== null; next = await findDueRepository(sql)) {
    const due = next
    await sql.begin((tx) => regroupRepository(tx, due, rules, clock.now()))
  }
}

async function regroupRepository(tx: Tx, due: DueRepository, rules: KnownRules, at: Date): Promise<void> {
  const { has_edits } = await lockRepository(tx, due.org_id, due.repository_no)
  // Held before any bucket is taken, to prevent a deadlock: this transaction would wait for an
  // import, which waits for a job that takes alias changes, which waits for these buckets.
  await lockIntel(tx)
  const buckets = await deleteDueBuckets(tx, due)
  await regroupBuckets(tx, { ...due, has_edits, at }, { buckets, rules, cause: { by: 'aliases', source: due.source } })
}
