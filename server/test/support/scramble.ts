import { SeededRandom } from '../../src/platform/seeded-random.ts'
import { updateRefreshedIssues } from '../../src/security/writing/issue-writing.store.ts'
import type { Caller, TestApi } from './api.ts'

/**
 * Puts findings into any issues of their repository, and issues into any buckets: as if other rules
 * had grouped them.
 */
export async function scrambleGroups(api: TestApi, { orgId }: Caller, seed: number): Promise<void> {
  const random = new SeededRandom(seed)
  await api.services.sql.begin(async (tx) => {
    const findings = await tx<{ id: string; repository_no: number }[]>`
      select id, repository_no
      from findings
      where org_id = ${orgId}
      order by id`
    const issues = await tx<{ id: string; repository_no: number }[]>`
      select id, repository_no
      from security_issues
      where org_id = ${orgId}
      order by id`
    for (const { id, repository_no } of findings) {
      const issue = random.pick(issues.filter((each) => each.repository_no === repository_no)).id
      await tx`
        update findings
        set issue_id = ${issue}, grouping_code = 'same_location', grouping_detail = ${`By chance ${seed}.`}
        where org_id = ${orgId}
          and id = ${id}`
    }
    for (const { id } of issues) await disguise(tx, orgId, id, random)
    await updateRefreshedIssues(
      tx,
      orgId,
      issues.map(({ id }) => id),
      api.clock.now(),
    )
  })
}

type Tx = Parameters<typeof updateRefreshedIssues>[0]

async function disguise(tx: Tx, orgId: string, id: string, random: SeededRandom): Promise<void> {
  await tx`
    update security_issues issue
    set bucket = decode(md5(${random.below(1000)}::text), 'hex'), vuln_ids = '{}', canonical_id = null,
      merged_into = case
        when not exists (select from findings where findings.org_id = issue.org_id and findings.issue_id = issue.id)
        then (select issue_id from findings where findings.org_id = issue.org_id limit 1)
      end,
      listed = issue.listed and exists (
        select from findings where findings.org_id = issue.org_id and findings.issue_id = issue.id
      )
    where org_id = ${orgId}
      and id = ${id}`
}
