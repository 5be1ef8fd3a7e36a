import { Group, Stack, Text, Title } from '@mantine/core'
import { StatusBadge } from '../../page/badges.tsx'
import { formatCount } from '../../page/numbers.ts'
import { TrustBadge } from '../../page/trust-badge.tsx'
import { type Data, numberIn, textIn } from './attestation-data.ts'
import { type Attestation, kindLook } from './attestation-kinds.ts'
import { Coverage } from './coverage.tsx'
import { JsonView } from './json-view.tsx'
import { Scan } from './scan.tsx'
import { TestResults } from './test-results.tsx'

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
