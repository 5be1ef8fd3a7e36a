import { defineScheduledJob } from '../../../platform/queue/job.ts'
import type { Services } from '../../../services.ts'
import { regroupOrganization } from './regroup-organization.ts'
import { deleteRuleChange, findOutdatedOrganization, hasUnfinishedRun } from './rule-change.store.ts'

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

/** An unfinished run may have applied the earlier rules to some repositories: another follows. */
async function regroupOutdated(services: Services, orgId: string, stopping?: AbortSignal): Promise<void> {
  const follow = () => stopping?.throwIfAborted()
  if (await hasUnfinishedRun(services.sql, orgId)) await regroupOrganization(services, orgId, follow)
  const { id, findings, moved, merged, split } = await regroupOrganization(services, orgId, follow)
  await deleteRuleChange(services.sql, orgId)
  const counts = { findings, moved, merged, split }
  services.log.info({ org_id: orgId, regroup_id: id, ...counts }, 'Issues were regrouped by the current rules')
}
