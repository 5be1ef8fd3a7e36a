import type { Db } from '../../platform/db/sql.ts'
import type { Severity } from '../vocabulary/severity.ts'

/** What findings say about a package. */
export type FoundVulnerability = {
  id: string
  aliases: string[]
  purl: string
  severity: Severity
  state: 'open' | 'fixed' | 'dismissed'
  fixed_version: string | null
  title: string
}

/** The vulnerabilities that findings of the tracked branches have of packages, by id. */
export async function listVulnerabilities(
  db: Db,
  orgId: string,
  { repositoryNos, limit }: { repositoryNos: readonly number[]; limit: number },
): Promise<FoundVulnerability[]> {
  return db<FoundVulnerability[]>`
    select distinct on (finding.vuln_ids[1], finding.purl) finding.vuln_ids[1] as id,
      finding.vuln_ids[2:] as aliases, finding.purl, finding.severity, finding.state, finding.fixed_version,
      finding.title
    from findings finding
    join finding_streams stream on stream.org_id = finding.org_id and stream.id = finding.stream_id
    where finding.org_id = ${orgId}
      and finding.repository_no = any(${[...repositoryNos]}::bigint[])
      and stream.tracked
      and finding.purl is not null
      and finding.vuln_ids <> '{}'
      and finding.state <> 'fixed'
    order by finding.vuln_ids[1], finding.purl, finding.state = 'open' desc, finding.id
    limit ${limit}`
}
