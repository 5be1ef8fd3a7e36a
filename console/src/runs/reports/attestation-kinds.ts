import {
  IconCertificate,
  IconChartBar,
  IconListDetails,
  IconNotes,
  IconPackages,
  IconShieldSearch,
  IconTestPipe,
  IconUsers,
} from '@tabler/icons-react'
import type { Schema } from '../../api/client.ts'
import type { Icon } from '../../page/badges.tsx'

export type Attestation = Schema<'StoredReport'>['attestations'][number]
type Kind = Attestation['kind']

/** The kinds of attestations as people read them. */
const KINDS: Record<Kind, [label: string, icon: Icon]> = {
  'test-results': ['Tests', IconTestPipe],
  coverage: ['Coverage', IconChartBar],
  sbom: ['SBOM', IconPackages],
  scan: ['Scan', IconShieldSearch],
  custom: ['Check', IconListDetails],
  ownership: ['Ownership', IconUsers],
  provenance: ['Provenance', IconCertificate],
}

/** Attestations in the order of their kinds, so that tests come first. */
export function byKind<Item extends { kind: Kind }>(items: readonly Item[]): Item[] {
  const order = Object.keys(KINDS)
  return items.toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))
}

export function kindLook(kind: string): { label: string; icon: Icon } {
  const [label, icon] = KINDS[kind as Kind] ?? [kind, IconNotes]
  return { label, icon }
}
