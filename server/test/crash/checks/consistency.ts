import type { Sql } from '../../../src/platform/db/sql.ts'
import { UPLOAD_EXPIRED } from '../../../src/security/uploads/upload-state.store.ts'
import { runAsProcess } from '../../support/program.ts'
import type { Installation } from '../installation.ts'
import type { Loss } from './loss.ts'

/** What no journal says, but must hold after any crash. */
export async function findInconsistencies(sql: Sql, merged: readonly string[]): Promise<Loss[]> {
  return [...(await findFailed(sql)), ...(await findUnrecorded(sql, merged)), ...(await findDecidedTwice(sql))]
}

/**
 * No job, delivery or upload may have failed because of a crash. What clients have given up expires.
 */
async function findFailed(sql: Sql): Promise<Loss[]> {
  const rows = await sql<{ kind: string; id: string; error: string }[]>`
    select 'failed job' as kind, name as id, coalesce(last_error, '') as error
    from jobs
    where state = 'failed'
    union all
    select 'failed delivery', id::text, coalesce(error, '')
    from codehost_deliveries
    where status = 'failed'
    union all
    select 'failed upload', id, error
    from security_uploads
    where status = 'failed'
      and error <> ${UPLOAD_EXPIRED}`
  return rows.map(({ kind, id, error }) => ({ kind, id, expected: null, found: error }))
}

/** Every merged commit is recorded once, although deliveries were lost. */
async function findUnrecorded(sql: Sql, merged: readonly string[]): Promise<Loss[]> {
  const rows = await sql<{ merge_sha: string; count: number }[]>`
    select merge_sha, count(*)::int as count
    from changes
    group by merge_sha`
  const counts = new Map(rows.map(({ merge_sha, count }) => [merge_sha, count]))
  return merged
    .filter((sha) => counts.get(sha) !== 1)
    .map((sha) => ({ kind: 'change', id: sha, expected: 1, found: counts.get(sha) ?? 0 }))
}

async function findDecidedTwice(sql: Sql): Promise<Loss[]> {
  const rows = await sql<{ object_id: string; count: number }[]>`
    select object_id, count(*)::int as count
    from audit_entries
    where action in ('deployment.approve', 'deployment.reject')
    group by object_id
    having count(*) > 1`
  return rows.map(({ object_id, count }) => ({ kind: 'answer', id: object_id, expected: 1, found: count }))
}

/** Every hash chain, and the transparency log. */
export async function findBreaks({ dataDir, settings }: Installation): Promise<{ losses: Loss[]; links: number }> {
  const { code, json, stderr } = await runAsProcess(dataDir, ['provenance', 'verify', '--json'], settings)
  if (code === 0) return { losses: [], links: json.links }
  return {
    losses: [{ kind: 'provenance', id: 'verify', expected: 'ok', found: json ?? stderr }],
    links: json?.links ?? 0,
  }
}
