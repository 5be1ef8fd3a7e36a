import type { Static } from 'typebox'
import type { DeployedSubject } from '../ci/subjects/subject.schema.ts'
import { buildNewestSubjects } from '../ci/subjects/subject.store.ts'
import type { SubjectRow } from '../ci/subjects/subject.ts'
import { type AskedDigest, TRACED_MAX } from '../ci/subjects/traced-digest.store.ts'
import type { Db, Tx } from '../platform/db/sql.ts'
import type { MarkLane } from './deployment-mark.ts'
import type { DeploymentKey } from './deployment-state.ts'

/** Who stated subjects: who opened the gate with them, or by name who added them later. */
type Stated = { trust: MarkLane; stated_by: string | null }

/** Adds subjects to a deployment, after those that it has. The deployment is locked or new. */
export async function insertDeploymentSubjects(
  tx: Tx,
  { org_id, id }: DeploymentKey,
  rows: readonly SubjectRow[],
  { trust, stated_by }: Stated,
): Promise<void> {
  if (rows.length === 0) return
  await tx`
    insert into deployment_subjects (
      org_id, deployment_id, position, part, name, sha256, media_type, platform, trust, stated_by
    )
    select ${org_id}, ${id}, position + (
        select coalesce(max(position) + 1, 0)
        from deployment_subjects
        where org_id = ${org_id}
          and deployment_id = ${id}
      ), part, name, sha256, media_type, platform, ${trust}, ${stated_by}
    from jsonb_to_recordset(${tx.json(rows as never)}::jsonb) as subject (
      position smallint, part smallint, name text, sha256 text, media_type text, platform text
    )`
}

/** A subject of a deployment, in the form of the API. */
export type ShownSubject = Static<typeof DeployedSubject>

type FoundRow = SubjectRow & Stated & { deployment_id: string }

/**
 * The subjects of deployments by their ids: what their gates were opened with, else what the newest
 * reports of the jobs of their runs name, and what was stated later.
 */
export async function listDeploymentSubjects(
  db: Db,
  orgId: string,
  ids: readonly string[],
): Promise<Map<string, ShownSubject[]>> {
  if (ids.length === 0) return new Map()
  const rows = await db<FoundRow[]>`
    with stated as materialized (
      select deployment_id, position, part, name, sha256, media_type, platform, trust, stated_by
      from deployment_subjects
      where org_id = ${orgId}
        and deployment_id = any(${[...ids]})
    )
    select *
    from (
      select * from stated
      union all
      select deployment.id, subject.*
      from deployments deployment
      cross join lateral ${buildNewestSubjects(db, orgId, 'deployment')} subject
      where deployment.org_id = ${orgId}
        and deployment.id = any(${[...ids]})
        and not exists (select from stated where stated.deployment_id = deployment.id and stated.stated_by is null)
    ) subject
    order by deployment_id, position, part
    limit ${ids.length * ROWS_MAX}`
  const byDeployment = Map.groupBy(rows, ({ deployment_id }) => deployment_id)
  return new Map([...byDeployment].map(([id, own]) => [id, toShown(own)]))
}

/** Of one deployment, subjects and manifests together. */
const ROWS_MAX = 3000

function toShown(rows: readonly FoundRow[]): ShownSubject[] {
  const shown = [...Map.groupBy(rows, ({ position }) => position).values()].flatMap(([own, ...parts]) =>
    own === undefined
      ? []
      : {
          name: own.name,
          sha256: own.sha256,
          media_type: own.media_type,
          platforms: parts.map(({ sha256, platform }) => ({ sha256, platform: platform ?? '' })),
          trust: own.trust,
          stated_after_decision: own.stated_by !== null,
          stated_by: own.stated_by,
        },
  )
  // Several jobs of a run can name one image.
  return [...new Map(shown.map((subject) => [`${subject.trust} ${subject.sha256} ${subject.name}`, subject])).values()]
}

/** Whether a gate was opened with other subjects than these. */
export async function hasOtherSubjects(
  db: Db,
  { org_id, id }: DeploymentKey,
  rows: readonly SubjectRow[],
): Promise<boolean> {
  const stored = await db<{ sha256: string; name: string }[]>`
    select sha256, name
    from deployment_subjects
    where org_id = ${org_id}
      and deployment_id = ${id}
      and stated_by is null`
  const toTexts = (all: readonly { sha256: string; name: string }[]) =>
    new Set(all.map(({ sha256, name }) => `${sha256} ${name}`))
  return toTexts(stored).symmetricDifference(toTexts(rows)).size > 0
}

type TracedDeployment = { id: string; repository: string; environment: string; status: string; created_at: string }

/**
 * The deployments of a digest: those whose gates were opened with it or that somebody stated, and
 * those of its runs whose gates name nothing. Newest first.
 */
export async function listDeploymentsOfDigest(
  db: Db,
  { org_id, sha256 }: AskedDigest,
  runIds: readonly string[],
): Promise<TracedDeployment[]> {
  return db<TracedDeployment[]>`
    select deployment.id, deployment.repository_full_name as repository, deployment.environment, deployment.status,
      rfc3339(deployment.created_at) as created_at
    from (
      select deployment_id as id
      from deployment_subjects
      where org_id = ${org_id}
        and sha256 = ${sha256}
      union
      select own.id
      from deployments own
      where own.org_id = ${org_id}
        and own.pipeline_run_id = any(${[...runIds]})
        and not exists (
          select
          from deployment_subjects named
          where named.org_id = ${org_id}
            and named.deployment_id = own.id
            and named.stated_by is null
        )
    ) found
    join deployments deployment on deployment.org_id = ${org_id} and deployment.id = found.id
    order by deployment.created_at desc, deployment.id
    limit ${TRACED_MAX}`
}
