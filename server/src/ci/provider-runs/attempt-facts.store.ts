import { lockName } from '../../platform/db/advisory-lock.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { AttemptFacts, AttemptVersion } from './attempt-facts.ts'
import type { ProviderRunKey } from './provider-run.ts'

/** Locks what is known of a run until the transaction ends, also if nothing is stored yet. */
export async function lockProviderRun(tx: Tx, { org_id, run_id }: ProviderRunKey): Promise<void> {
  await lockName(tx, `run ${org_id} ${run_id}`)
}

type FactsRow = { number: number; job_started: boolean } & {
  [Field in keyof AttemptVersion]: AttemptVersion[Field] | null
}

const ATTEMPTS_MAX = 999

export async function listAttemptFacts(tx: Tx, { org_id, run_id }: ProviderRunKey): Promise<AttemptFacts[]> {
  const rows = await tx<FactsRow[]>`
    select number, job_started, host_version, status, url, actor, started_at, completed_at, host_updated_at
    from provider_run_attempts
    where org_id = ${org_id}
      and run_id = ${run_id}
    order by number
    limit ${ATTEMPTS_MAX}`
  return rows.map(({ number, job_started, ...version }) => ({
    number,
    job_started,
    version: version.host_version === null ? null : (version as AttemptVersion),
  }))
}

export async function upsertAttemptFacts(
  tx: Tx,
  { org_id, run_id }: ProviderRunKey,
  { number, job_started, version }: AttemptFacts,
): Promise<void> {
  await tx`
    insert into provider_run_attempts (
      org_id, run_id, number, job_started, host_version, status, url, actor, started_at, completed_at, host_updated_at
    )
    values (
      ${org_id}, ${run_id}, ${number}, ${job_started}, ${version?.host_version ?? null}, ${version?.status ?? null},
      ${version?.url ?? null}, ${version?.actor ?? null}, ${version?.started_at ?? null},
      ${version?.completed_at ?? null}, ${version?.host_updated_at ?? null}
    )
    on conflict (org_id, run_id, number) do update
    set job_started = excluded.job_started, host_version = excluded.host_version, status = excluded.status,
      url = excluded.url, actor = excluded.actor, started_at = excluded.started_at,
      completed_at = excluded.completed_at, host_updated_at = excluded.host_updated_at`
}
