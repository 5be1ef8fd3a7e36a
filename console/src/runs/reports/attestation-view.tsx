import { Group, Stack, Text, Title } from '@mantine/core'
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
import { type Icon, StatusBadge, TrustBadge } from '../../page/badges.tsx'
import { formatCount } from '../../page/numbers.ts'
import { type Data, numberIn, textIn } from './attestation-data.ts'
import { Coverage, JsonView, Scan, TestResults } from './results.tsx'

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

type AttestationViewProps = { attestation: Attestation; trustOfReport: string }

/** One attestation of a report: what it is, its status, how far it can be trusted, and its data. */
export function AttestationView({ attestation, trustOfReport }: AttestationViewProps) {
  const { kind, name, status, trust, data } = attestation
  const { label, icon: Icon } = kindLook(kind)
  return (
    <Stack gap="xs" component="section" aria-label={`${label} ${name}`}>
      <Group gap={10}>
        <Icon size={16} aria-hidden />
        <Title order={4} fz="sm" style={{ minWidth: 0 }}>
          {label}{' '}
          <Text span size="sm" c="dimmed" fw={400}>
            <bdi>{name}</bdi>
          </Text>
        </Title>
        <StatusBadge status={status} />
        {(kind === 'provenance' || trust !== trustOfReport) && <TrustBadge trust={trust} />}
      </Group>
      <AttestationBody kind={kind} data={data} />
    </Stack>
  )
}

function AttestationBody({ kind, data }: { kind: Attestation['kind']; data: Data }) {
  if (kind === 'test-results') return <TestResults data={data} />
  if (kind === 'coverage') return <Coverage data={data} />
  if (kind === 'scan') return <Scan data={data} />
  if (kind === 'sbom') return <Sbom data={data} />
  return <JsonView label={`${kindLook(kind).label} data`} value={data} />
}

function Sbom({ data }: { data: Data }) {
  const components = numberIn(data, 'components')
  const facts = [
    textIn(data, 'format'),
    components === null ? 'not read yet' : `${formatCount(components)} components`,
    textIn(data, 'artifact'),
  ]
  return <Text size="sm">{facts.filter(Boolean).join(' · ')}</Text>
}

type Attestation = Schema<'StoredReport'>['attestations'][number]

type Kind = Attestation['kind']

/** Attestations in the order of their kinds, so that tests come first. */
export function byKind<Item extends { kind: Kind }>(items: readonly Item[]): Item[] {
  const order = Object.keys(KINDS)
  return items.toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))
}

export function kindLook(kind: string): { label: string; icon: Icon } {
  const [label, icon] = KINDS[kind as Kind] ?? [kind, IconNotes]
  return { label, icon }
}
