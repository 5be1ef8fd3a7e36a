import { restPath } from '../../../kit/rest-client.ts'
import type { AzureApi } from '../client.ts'
import type { Build } from '../runs.ts'
import { type DeploymentRecord, parseDeploymentRecord } from '../deployments.ts'
import type { Environment } from '../environments.ts'
import { timeOrNull } from '../objects/fields.ts'

const PAGE_RECORDS = 100
const PAGES_MAX = 10

/** What a run has deployed to an environment. Records are listed newest first. */
export async function readRecords(
  api: AzureApi,
  project: string,
  build: Build,
  { id }: Environment,
): Promise<DeploymentRecord[]> {
  const path = restPath`/${project}/_apis/distributedtask/environments/${id}/environmentdeploymentrecords`
  const queuedAt = timeOrNull(build.queueTime) ?? new Date(0)
  const found: DeploymentRecord[] = []
  for (let pages = 0, next: string | null | undefined; pages < PAGES_MAX && next !== null; pages += 1) {
    const page = await api.readPage({ path, query: { top: PAGE_RECORDS } }, next)
    const records = page === null ? [] : api.parseItems(page.values, parseDeploymentRecord)
    found.push(...records.filter(({ owner }) => owner?.id === build.id))
    const oldest = timeOrNull(records.at(-1)?.queueTime)
    next = oldest !== null && oldest < queuedAt ? null : (page?.next ?? null)
  }
  return found
}
