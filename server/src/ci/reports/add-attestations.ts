import type { Actor } from '../../access/actor.ts'
import { invalidField } from '../../platform/http/errors.ts'
import { publish } from '../../platform/queue/event.ts'
import type { Services } from '../../services.ts'
import { announceNamedArtifacts } from '../artifacts/announce-artifacts.ts'
import {
  type AttestationRow,
  countAttestations,
  type StoredAttestation,
  upsertAttestations,
} from './attestation.store.ts'
import { lockRunAndReport } from './lock-report.ts'
import { readAttestations } from './read-attestations.ts'
import type { AttestationItem } from './report.schema.ts'
import { reportChanged } from './report-changed.event.ts'

/** Attestations that one report may gather over all calls. */
const ATTESTATIONS_PER_REPORT_MAX = 200

/** Merges attestations into a report by kind and name; nothing is deleted. Errors as those of `createReport`. */
export async function addAttestations(
  services: Services,
  actor: Actor,
  runId: string,
  reportId: string,
  items: AttestationItem[],
) {
  const now = services.clock.now()
  const { rows, warnings } = readAttestations(items, now)
  const stored = await services.sql.begin(async (tx) => {
    await lockRunAndReport(tx, actor.org_id, runId, reportId)
    const merged = await upsertAttestations(tx, actor.org_id, reportId, rows, now)
    if ((await countAttestations(tx, actor.org_id, reportId)) > ATTESTATIONS_PER_REPORT_MAX) {
      throw invalidField('/body/attestations', `would give the report more than ${ATTESTATIONS_PER_REPORT_MAX}`)
    }
    await announceNamedArtifacts(tx, actor.org_id, reportId)
    await publish(tx, reportChanged, { org_id: actor.org_id, run_id: runId })
    return merged
  })
  return { report_id: reportId, attestations: inOrderOf(rows, stored), warnings }
}

/** A merged attestation keeps the id that it had. */
function inOrderOf(rows: AttestationRow[], stored: StoredAttestation[]): StoredAttestation[] {
  return rows.flatMap((row) => stored.filter(({ kind, name }) => kind === row.kind && name === row.name))
}
