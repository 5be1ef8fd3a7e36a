import { newChangeId } from '../../src/platform/ids.ts'
import { appendLink } from '../../src/provenance/chain/append-link.ts'
import type { ChangeRecord } from '../../src/provenance/changes/change-record.ts'
import type { Services } from '../../src/services.ts'

type Recorder = Pick<Services, 'sql' | 'clock' | 'integrityKey'>

const PERSON = { name: 'Ada', email: 'ada@example.org', id: '1', login: 'ada' }
const ADA = { id: '1', login: 'ada', is_bot: false }
const BOB = { id: '2', login: 'bob', is_bot: false }

let recorded = 0

/** Other commits for every record. */
function newSha(): string {
  recorded += 1
  return recorded.toString(16).padStart(40, 'c')
}

/** The record of a reviewed pull request that landed now. */
export function changeRecord({ clock }: Pick<Recorder, 'clock'>, fields: Partial<ChangeRecord> = {}): ChangeRecord {
  const at = clock.now().toISOString()
  const [head, merge] = [newSha(), newSha()]
  return {
    version: 1,
    id: newChangeId(clock.now()),
    repository: { provider: 'github', host: 'github.com', id: '1001', full_name: 'acme/api' },
    branch: 'main',
    landed_by: 'pull_request',
    landed_at: at,
    commits: {
      head,
      base: 'b'.repeat(40),
      merge,
      list: [{ sha: head, author: PERSON, committer: PERSON, signature: { verified: true, reason: 'valid' } }],
      complete: true,
    },
    pull_request: {
      number: recorded,
      title: 'Change "prices" to €',
      url: `https://github.com/acme/api/pull/${recorded}`,
      author: ADA,
      opened_at: at,
      merged_at: at,
      merged_by: ADA,
    },
    pusher: null,
    forced: false,
    reviews: [{ id: '1', reviewer: BOB, state: 'approved', commit_sha: head, submitted_at: at, stale: false }],
    branch_rules: null,
    checks: [],
    runs: [],
    code_owners: null,
    security: null,
    deviations: [],
    ...fields,
  }
}

/** Stores a record as the next link of its repository's chain. */
export async function recordChange(
  services: Recorder,
  orgId: string,
  fields: Partial<ChangeRecord> = {},
): Promise<ChangeRecord> {
  const record = changeRecord(services, fields)
  const { provider, id: repository_id } = record.repository
  const key = { org_id: orgId, provider, repository_id }
  const at = services.clock.now()
  await services.sql.begin(async (tx) => {
    const link = { kind: 'record' as const, change_id: record.id, body: record, at }
    const { index } = await appendLink(services, tx, key, link)
    await tx`
      insert into changes ${tx({
        ...key,
        id: record.id,
        branch: record.branch,
        landed_by: record.landed_by,
        pull_request: record.pull_request?.number ?? null,
        push_id: record.pull_request === null ? record.id : null,
        merge_sha: record.commits.merge,
        link_index: index,
        last_index: index,
        deviations: record.deviations,
        created_at: record.landed_at,
        recorded_at: at,
      })}`
    await tx`
      insert into change_commits (org_id, provider, repository_id, sha, change_id)
      select ${orgId}, ${provider}, ${repository_id}, sha, ${record.id}
      from unnest(${[...new Set([record.commits.head, record.commits.merge])]}::text[]) sha`
  })
  return record
}

/** Appends a late review to a recorded change. */
export async function amendChange(services: Recorder, orgId: string, record: ChangeRecord): Promise<object> {
  const { provider, id: repository_id } = record.repository
  const at = services.clock.now()
  const body = {
    change: record.id,
    at: at.toISOString(),
    kind: 'review' as const,
    facts: { review: { ...record.reviews[0], submitted_at: at.toISOString() }, deviations: [] },
  }
  await services.sql.begin(async (tx) => {
    const link = { kind: 'amendment' as const, change_id: record.id, body, at }
    const { index } = await appendLink(services, tx, { org_id: orgId, provider, repository_id }, link)
    await tx`update changes set last_index = ${index} where org_id = ${orgId} and id = ${record.id}`
  })
  return body
}
