import type { Db } from '../../platform/db/sql.ts'
import { listAliases } from '../intel/alias.store.ts'
import { collectVulnerabilityIds, removeDistribution } from '../vocabulary/vulnerability-id.ts'
import { computePackageBuckets } from './grouping/bucket.ts'
import type { IssueSelection } from './issue-facet.store.ts'

type NameQuery = { vulnerability?: string; package?: string }

/** The filters of a query that name a vulnerability or a package. */
export async function selectNames(db: Db, query: NameQuery): Promise<Pick<IssueSelection, 'vulnIds' | 'buckets'>> {
  return {
    vulnIds: query.vulnerability === undefined ? null : await listIds(db, query.vulnerability.trim()),
    buckets: query.package === undefined ? null : computePackageBuckets(query.package.trim()),
  }
}

/** The id in canonical case, with all its aliases. */
async function listIds(db: Db, text: string): Promise<string[]> {
  const id = collectVulnerabilityIds([text])[0] ?? text
  return [...new Set([id, removeDistribution(id), ...(await listAliases(db, removeDistribution(id)))])]
}
