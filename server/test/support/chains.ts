import type { Tx } from '../../src/platform/db/sql.ts'
import { appendLink } from '../../src/provenance/chain/append-link.ts'
import type { ChainKey, ChainPosition } from '../../src/provenance/chain/link.ts'
import { type ChainState, verifyLinks } from '../../src/provenance/chain/read-chain-state.ts'
import type { Amendment, ChangeRecord } from '../../src/provenance/changes/change-record.ts'
import type { Services } from '../../src/services.ts'
import type { TestApi } from './api.ts'

/** A change to be appended. `id` is also what its commits are named by. */
type NewChange = { number: number; landed_at: Date; deviations?: ChangeRecord['deviations'] }

/** A record as it is appended, with as much as the chain reads of it. */
export function recordOf({ provider, repository_id }: ChainKey, { number, landed_at, deviations = [] }: NewChange) {
  const id = changeId(repository_id, number)
  const account = { id: '7', login: 'ada', is_bot: false }
  const person = { name: 'Ada Łovelace', email: 'ada@example.com', id: '7', login: 'ada' }
  const sha = shaOf(number)
  return {
    version: 1,
    id,
    repository: { provider, host: 'github.com', id: repository_id, full_name: `acme/repository-${repository_id}` },
    branch: 'main',
    landed_by: 'pull_request',
    landed_at: landed_at.toISOString(),
    commits: {
      head: sha,
      base: null,
      merge: sha,
      list: [{ sha, author: person, committer: person, signature: null }],
      complete: true,
    },
    pull_request: {
      number,
      title: `Change "${number}" \u2028 with\ttext`,
      url: null,
      author: account,
      opened_at: landed_at.toISOString(),
      merged_at: landed_at.toISOString(),
      merged_by: account,
    },
    pusher: null,
    forced: false,
    reviews: [],
    branch_rules: null,
    checks: [],
    runs: [],
    code_owners: null,
    security: null,
    deviations,
  } satisfies ChangeRecord
}

export function changeId(repositoryId: string, number: number): string {
  return `chg_${repositoryId}_${number}`
}

function shaOf(number: number): string {
  return number.toString(16).padStart(40, '0')
}

/** Appends the record of a change, and stores the row of the change as a landed change has it. */
export async function appendChange(services: Services, chain: ChainKey, change: NewChange): Promise<ChainPosition> {
  const body = recordOf(chain, change)
  const at = services.clock.now()
  return services.sql.begin(async (tx) => {
    const position = await appendLink(services, tx, chain, { kind: 'record', change_id: body.id, body, at })
    await tx`
      insert into changes ${tx({
        org_id: chain.org_id,
        id: body.id,
        provider: chain.provider,
        repository_id: chain.repository_id,
        branch: body.branch,
        landed_by: body.landed_by,
        pull_request: change.number,
        merge_sha: body.commits.merge,
        link_index: position.index,
        last_index: position.index,
        deviations: body.deviations,
        created_at: change.landed_at,
        recorded_at: at,
      })}`
    await tx`insert into change_commits ${tx({ ...chain, sha: body.commits.merge, change_id: body.id })}`
    return position
  })
}

/** Appends an amendment, which may add deviations to the change. */
export async function appendAmendment(
  services: Services,
  chain: ChainKey,
  number: number,
  deviations: ChangeRecord['deviations'],
): Promise<ChainPosition> {
  const at = services.clock.now()
  const change = changeId(chain.repository_id, number)
  const body: Amendment = { change, at: at.toISOString(), kind: 'check', facts: { deviations } }
  return services.sql.begin(async (tx) => {
    const position = await appendLink(services, tx, chain, { kind: 'amendment', change_id: change, body, at })
    await tx`
      update changes
      set last_index = ${position.index},
        deviations = array(select distinct unnest(changes.deviations || ${deviations}::text[]))
      where org_id = ${chain.org_id}
        and id = ${change}`
    return position
  })
}

/** Appends `length` links; every fifth one is an amendment of the change before. */
export async function growChain(services: Services, chain: ChainKey, length: number, first = 0): Promise<void> {
  for (let index = first; index < first + length; index += 1) {
    if (index % 5 === 4) await appendAmendment(services, chain, index, ['no_review'])
    else await appendChange(services, chain, { number: index + 1, landed_at: services.clock.now() })
  }
}

/** Changes rows as somebody with full access to the database can: without foreign keys. */
export async function tamper(
  { services }: Pick<TestApi, 'services'>,
  statement: (tx: Tx) => Promise<unknown>,
): Promise<void> {
  await services.sql.begin(async (tx) => {
    await tx`set local citus.propagate_set_commands = 'local'`
    await tx`set local session_replication_role = replica`
    await statement(tx)
  })
}

/** The state of a chain after the interval of a link was verified. */
export async function verifyLink(services: Services, chain: ChainKey, index: number): Promise<ChainState> {
  return (await verifyLinks(services, chain, index, index)).state
}
