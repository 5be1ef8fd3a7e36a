import type { HostSource } from '../../codehosts/host-event.ts'
import type { HostCheck } from '../../codehosts/host-run.ts'
import { computeHostVersion, getStatusOrder } from '../../codehosts/host-version.ts'
import type { Tx } from '../../platform/db/sql.ts'

/** Stores a check of a commit, unless a newer version of it is stored. */
export async function upsertCheck(tx: Tx, source: HostSource, check: HostCheck): Promise<void> {
  const { repository, ...content } = check
  const at = check.completed_at ?? check.started_at
  const version = computeHostVersion({ updated_at: at, state: getStatusOrder(check.status), content })
  await tx`
    insert into commit_checks as stored (
      org_id, provider, repository_id, commit_sha, id, host_version, name, source, status, url, started_at, completed_at
    )
    values (
      ${source.org_id}, ${source.provider}, ${repository.id}, ${check.commit_sha}, ${check.id}, ${version},
      ${check.name}, ${check.source}, ${check.status}, ${check.url}, ${check.started_at}, ${check.completed_at}
    )
    on conflict (org_id, provider, repository_id, commit_sha, id) do update
    set host_version = excluded.host_version, name = excluded.name, source = excluded.source,
      status = excluded.status, url = excluded.url, started_at = excluded.started_at,
      completed_at = excluded.completed_at
    where excluded.host_version > stored.host_version`
}
