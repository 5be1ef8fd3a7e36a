import { listCreators } from '../../access/credential.store.ts'
import { insertAuditEntry, type Principal } from '../../audit/audit.store.ts'
import { notProposed, uploaderRefused } from '../../errors/security.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { isUuid } from '../../platform/ids.ts'
import type { Services } from '../../services.ts'
import { waitForRepositories } from '../writing/write-triage.ts'
import { applyStatements } from './apply-statements.ts'
import { isOutdated } from './import-document.ts'
import {
  deleteDocument,
  findDocument,
  lockProposals,
  type ProposedDocument,
  updateConfirmedDocument,
} from './vex-document.store.ts'

const NAME_MAX = 200

/**
 * Puts the VEX document of an upload into effect that its sender had no permission for. Two calls
 * at once confirm it once. Throws 409 `not_proposed` if the upload has no document that waits for
 * it, or a newer version is in effect, 409 `uploader_refused` for whoever sent it, and 503
 * `unavailable`.
 */
export async function confirmProposals(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  org_id: string,
  principal: Principal,
  upload: { id: string; repository_no: number },
): Promise<void> {
  await sql.begin(async (tx) => {
    await waitForRepositories(tx, org_id, [upload.repository_no])
    const proposals = await lockProposals(tx, org_id, upload.id)
    if (proposals.length === 0) throw notProposed()
    for (const proposal of proposals) await confirm(tx, org_id, principal, proposal)
    const at = clock.now()
    await applyStatements(tx, { org_id, repository_no: upload.repository_no, at })
    const object = { type: 'security_upload', id: upload.id }
    await insertAuditEntry(tx, org_id, { principal, action: 'security_upload.confirm', object, reason: null }, at)
  })
}

async function confirm(tx: Tx, orgId: string, principal: Principal, proposal: ProposedDocument): Promise<void> {
  if (await isSender(tx, orgId, principal, proposal)) throw uploaderRefused()
  const stored = await findDocument(tx, { ...proposal, pending: false })
  if (stored !== null && isOutdated(proposal, stored)) throw notProposed()
  if (stored !== null) await deleteDocument(tx, orgId, stored.id)
  const name = `${proposal.stated_by_name}, confirmed by ${principal.name}`.slice(0, NAME_MAX)
  await updateConfirmedDocument(tx, orgId, { id: proposal.id, name })
}

/** A person and the keys that they have made are one. */
async function isSender(
  tx: Tx,
  orgId: string,
  { id }: Principal,
  { stated_by_id: sender }: ProposedDocument,
): Promise<boolean> {
  if (id === null || sender === null) return false
  const people = async (of: string) => [of, ...(isUuid(of) ? await listCreators(tx, orgId, [of]) : [])]
  const senders = await people(sender)
  return (await people(id)).some((one) => senders.includes(one))
}
