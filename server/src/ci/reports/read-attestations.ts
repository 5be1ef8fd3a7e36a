import { ApiError, invalidField } from '../../platform/http/errors.ts'
import { newUuid } from '../../platform/ids.ts'
import type { AttestationRow } from './attestation.store.ts'
import {
  ATTESTATION_KINDS,
  ATTESTATION_STATUSES,
  type AttestationKind,
  type AttestationStatus,
  dataMistake,
  deriveStatus,
  REFUSED_KINDS,
} from './attestation.ts'
import type { AttestationItem } from './report.schema.ts'

type ReadAttestations = { rows: AttestationRow[]; warnings: string[] }

/**
 * Validates the attestations of a body and derives their statuses. Errors: 400 `kind_not_allowed`,
 * `invalid_request`.
 */
export function readAttestations(items: AttestationItem[], now: Date): ReadAttestations {
  const warnings: string[] = []
  const seen = new Set<string>()
  const rows = items.map((item, index) => {
    const pointer = `/body/attestations/${index}`
    const kind = readKind(item.kind, pointer)
    const identity = JSON.stringify([kind, item.name])
    if (seen.has(identity)) throw invalidField(`${pointer}/name`, `must be unique within the kind ${kind}`)
    seen.add(identity)
    const mistake = dataMistake(kind, item.data)
    if (mistake) throw invalidField(`${pointer}/data${mistake.path}`, mistake.message)
    return {
      id: newUuid(now),
      kind,
      name: item.name,
      data: item.data,
      status: readStatus(kind, item, pointer, warnings),
    }
  })
  return { rows, warnings }
}

function readKind(kind: string, pointer: string): AttestationKind {
  if (REFUSED_KINDS.includes(kind)) {
    throw new ApiError(400, 'kind_not_allowed', `Clients cannot send attestations of the kind ${kind}.`, { kind })
  }
  if ((ATTESTATION_KINDS as readonly string[]).includes(kind)) return kind as AttestationKind
  throw invalidField(`${pointer}/kind`, `must be one of ${ATTESTATION_KINDS.join(', ')}`)
}

function readStatus(
  kind: AttestationKind,
  item: AttestationItem,
  pointer: string,
  warnings: string[],
): AttestationStatus {
  if (kind === 'custom') return customStatus(item, pointer)
  const derived = deriveStatus(kind, item.data)
  if (item.status !== undefined && item.status !== derived) {
    warnings.push(`The status of ${kind} "${item.name}" is derived from its data: ${derived}, not ${item.status}.`)
  }
  return derived
}

/**
 * No status can be derived from custom data, so the client sends it, beside `data` or inside it.
 */
function customStatus({ status, data }: AttestationItem, pointer: string): AttestationStatus {
  const sent = status ?? (data as { status?: unknown }).status
  if (isStatus(sent)) return sent
  throw invalidField(
    `${pointer}/status`,
    `is required for the kind custom and must be one of ${ATTESTATION_STATUSES.join(', ')}`,
  )
}

function isStatus(value: unknown): value is AttestationStatus {
  return (ATTESTATION_STATUSES as readonly unknown[]).includes(value)
}
