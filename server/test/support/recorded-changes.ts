import { createChangeId } from '../../src/platform/ids.ts'
import { appendLink } from '../../src/provenance/chain/append-link.ts'
import { insertChange, updateNewestAmendment } from '../../src/provenance/changes/change.store.ts'
import type { Amendment, ChangeRecord } from '../../src/provenance/changes/change-record.ts'
import type { Landing } from '../../src/provenance/changes/landing.store.ts'
import type { Services } from '../../src/services.ts'
import { BOB, mergedRecord, reviewOf } from './change-records.ts'

type Recorder = Pick<Services, 'sql' | 'clock' | 'integrityKey'>

let pullRequests = 0

/** Stores the record of another reviewed pull request, which landed now. */
export async function recordChange(
  services: Recorder,
  orgId: string,
  fields: Partial<ChangeRecord> = {},
): Promise<ChangeRecord> {
  const record = newRecord(services, fields)
  const { chain, landing } = landingOf(orgId, record)
  const recorded_at = services.clock.now()
  await services.sql.begin(async (tx) => {
    const link = { kind: 'record' as const, change_id: record.id, body: record, at: recorded_at }
    const { index } = await appendLink(services, tx, chain, link)
    await insertChange(tx, landing, { record, link_index: index, recorded_at })
  })
  return record
}

function newRecord({ clock }: Recorder, fields: Partial<ChangeRecord>): ChangeRecord {
  const now = clock.now()
  const { pull_request, ...record } = mergedRecord({ id: createChangeId(now), landed_at: now.toISOString() })
  pullRequests += 1
  return {
    ...record,
    pull_request: pull_request && { ...pull_request, title: 'Prices in "€"', number: pullRequests },
    deviations: [],
    ...fields,
  }
}

function landingOf(orgId: string, record: ChangeRecord) {
  const { repository, pull_request, landed_at } = record
  const chain = { org_id: orgId, provider: repository.provider, repository_id: repository.id }
  const push_id = pull_request === null ? record.id : null
  const landing = { ...chain, pull_request: pull_request?.number ?? null, push_id, landed_at: new Date(landed_at) }
  return { chain, landing: landing as Landing }
}

/** Appends a late review to a recorded change. */
export async function amendChange(services: Recorder, orgId: string, record: ChangeRecord): Promise<Amendment> {
  const at = services.clock.now()
  const facts = { review: reviewOf(BOB, 'changes_requested'), deviations: record.deviations }
  const body: Amendment = { change: record.id, at: at.toISOString(), kind: 'review', facts }
  await services.sql.begin(async (tx) => {
    const link = { kind: 'amendment' as const, change_id: record.id, body, at }
    const { index } = await appendLink(services, tx, landingOf(orgId, record).chain, link)
    await updateNewestAmendment(
      tx,
      { org_id: orgId, id: record.id },
      { last_index: index, deviations: record.deviations },
    )
  })
  return body
}
