import { ApiError, invalidField } from '../../platform/http/errors.ts'
import { newUuid } from '../../platform/ids.ts'
import type { AttestationRow } from './attestation.store.ts'
import {
  ATTESTATION_KINDS,
  type AttestationKind,
  type AttestationStatus,
  dataMistake,
  deriveStatus,
  REFUSED_KINDS,
} from './attestation.ts'
import type { AttestationItem } from './report.schema.ts'

export type ReadAttestations = { rows: AttestationRow[]; warnings: string[] }

/** Attestations of a body as rows, with their derived status. Errors: 400 `kind_not_allowed`, `invalid_request`. */
export function readAttestations(items: AttestationItem[], now: Date): ReadAttestations {
  const warnings: string[] = []
  const seen = new Set<string>()
  const rows = items.map((item, index) => {
    const at = `/body/attestations/${index}`
    const kind = readKind(item.kind, at)
    const identity = JSON.stringify([kind, item.name])
    if (seen.has(identity)) throw invalidField(`${at}/name`, `stands twice in this request for ${kind}`)
    seen.add(identity)
    const mistake = dataMistake(kind, item.data)
    if (mistake) throw invalidField(`${at}/data${mistake.path}`, mistake.message)
    return { id: newUuid(now), kind, name: item.name, data: item.data, status: readStatus(kind, item, at, warnings) }
  })
  return { rows, warnings }
}

function readKind(kind: string, at: string): AttestationKind {
  if (REFUSED_KINDS.includes(kind)) {
    throw new ApiError(400, 'kind_not_allowed', `A job cannot attest ${kind}.`, { kind })
  }
  if ((ATTESTATION_KINDS as readonly string[]).includes(kind)) return kind as AttestationKind
  throw invalidField(`${at}/kind`, `must be one of ${ATTESTATION_KINDS.join(', ')}`)
}

function readStatus(kind: AttestationKind, item: AttestationItem, at: string, warnings: string[]): AttestationStatus {
  if (kind === 'custom') return customStatus(item, at)
  const derived = deriveStatus(kind, item.data)
  if (item.status !== undefined && item.status !== derived) {
    warnings.push(`The status of ${kind} "${item.name}" is derived from its figures: ${derived}, not ${item.status}.`)
  }
  return derived
}

/** Nothing can be derived from data that we do not know, so its sender says it: beside the data or in it. */
function customStatus({ status, data }: AttestationItem, at: string): AttestationStatus {
  const said = status ?? (data as { status?: unknown }).status
  if (said === 'pass' || said === 'fail' || said === 'warn' || said === 'info') return said
  throw invalidField(`${at}/status`, 'is required for custom: pass, fail, warn or info')
}
