import { createChangeId } from '../../src/platform/ids.ts'
import { appendLink } from '../../src/provenance/chain/append-link.ts'
import { insertChange, updateNewestAmendment } from '../../src/provenance/changes/change.store.ts'
import type { Amendment, ChangeRecord, Deviation } from '../../src/provenance/changes/change-record.ts'
import { computeDeviations, type UnratedRecord } from '../../src/provenance/changes/deviations.ts'
import type { Landing } from '../../src/provenance/changes/landing.store.ts'
import type { Services } from '../../src/services.ts'

type Organization = { orgId: string }

let pushes = 0

/** Stores a change with this record, as if it had landed now. */
export async function storeChange(
  services: Services,
  { orgId }: Organization,
  unrated: UnratedRecord,
  deviations: Deviation[] = computeDeviations(unrated),
): Promise<ChangeRecord> {
  const at = services.clock.now()
  const id = createChangeId(at)
  const record: ChangeRecord = { ...unrated, id, landed_at: at.toISOString(), deviations }
  const { provider, id: repository_id } = record.repository
  const landing = {
    org_id: orgId,
    provider,
    repository_id,
    pull_request: record.pull_request?.number ?? null,
    push_id: record.pull_request === null ? `push_${pushes++}` : null,
    landed_at: at,
  } as Landing
  await services.sql.begin(async (tx) => {
    const link = await appendLink(services, tx, landing, { kind: 'record', change_id: id, body: record, at })
    await insertChange(tx, landing, { record, link_index: link.index, recorded_at: at })
  })
  return record
}

/** Appends an amendment to a stored change. */
export async function amendChange(
  services: Services,
  { orgId }: Organization,
  record: ChangeRecord,
  { kind, facts }: Pick<Amendment, 'kind' | 'facts'>,
): Promise<void> {
  const at = services.clock.now()
  const chain = { org_id: orgId, provider: record.repository.provider, repository_id: record.repository.id }
  const body: Amendment = { change: record.id, at: at.toISOString(), kind, facts }
  await services.sql.begin(async (tx) => {
    const { index } = await appendLink(services, tx, chain, { kind: 'amendment', change_id: record.id, body, at })
    const { deviations } = facts
    await updateNewestAmendment(tx, { org_id: orgId, id: record.id }, { last_index: index, deviations })
  })
}
