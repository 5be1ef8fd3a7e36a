import { Group, List, Paper, Progress, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core'
import { IconCircleCheck, IconCircleMinus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { operations } from '../../api/schema.ts'
import { useOrganization } from '../../api/session.ts'
import { formatCount, formatPercent, formatSize } from '../../page/numbers.ts'
import { Page } from '../../page/page.tsx'
import { QueryView } from '../../page/states.tsx'
import { formatTime, Time } from '../../page/time.tsx'
import { usageQuery } from '../frame/queries.ts'

const FEATURES: Record<Feature, string> = {
  api_access: 'API access',
  security_uploads: 'Security uploads',
  unique_issues: 'Unique issues',
  signed_statements: 'Signed statements',
}

const LIMITS: Record<CountedLimit['name'], { title: string; format: (count: number) => string; atLimit: string }> = {
  ci_runs_per_month: {
    title: 'CI runs this month',
    format: formatCount,
    atLimit: 'At the limit, new runs are refused until the reset. Runs that are recorded already go on.',
  },
  artifact_bytes_per_month: {
    title: 'Artifacts this month',
    format: formatSize,
    atLimit: 'At the limit, new artifacts are skipped until the reset. Reports are still recorded.',
  },
}

const NEARLY = 0.8

type Feature = Usage['features'][number]

/** What the plan of the organization includes, and what is used of it. */
export function UsagePage() {
  const { slug: org } = useOrganization()
  const query = useQuery(usageQuery(org))
  return (
    <Page title="Plan and usage" description="What the plan of your organization includes, and what is used of it.">
      <QueryView query={query} of="usage">
        {({ data: usage }) => (
          <Stack gap="xl">
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              {usage.limits.map((limit) => (
                <UsageBar key={limit.name} limit={limit} />
              ))}
            </SimpleGrid>
            <Plan usage={usage} />
            <Maximums maximums={usage.maximums} />
          </Stack>
        )}
      </QueryView>
    </Page>
  )
}

function Plan({ usage: { plan, features, retention_days } }: { usage: Usage }) {
  return (
    <Paper p="md" component="section" aria-labelledby="plan">
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} id="plan">
            {plan.slice(0, 1).toUpperCase()}
            {plan.slice(1)} plan
          </Title>
          <Text size="sm" c="dimmed">
            Data is kept for {formatCount(retention_days)} days.
          </Text>
        </Group>
        <List listStyleType="none" spacing={4} size="sm">
          {(Object.keys(FEATURES) as Feature[]).map((feature) => (
            <FeatureLine key={feature} name={FEATURES[feature]} isIncluded={features.includes(feature)} />
          ))}
        </List>
        <Text size="sm" c="dimmed">
          The operator of this server changes the plan of an organization.
        </Text>
      </Stack>
    </Paper>
  )
}

function FeatureLine({ name, isIncluded }: { name: string; isIncluded: boolean }) {
  const Icon = isIncluded ? IconCircleCheck : IconCircleMinus
  return (
    <List.Item>
      <Group gap={6} wrap="nowrap">
        <Icon size={16} aria-hidden color={`var(--shiplock-${isIncluded ? 'success' : 'neutral'})`} />
        <Text span size="sm" c={isIncluded ? undefined : 'dimmed'}>
          {name}: {isIncluded ? 'included' : 'not included'}
        </Text>
      </Group>
    </List.Item>
  )
}

function Maximums({ maximums }: { maximums: Usage['maximums'] }) {
  const rows: [label: string, value: string, what: string][] = [
    ['Security report', formatSize(maximums.security_report_bytes), 'A larger report is refused.'],
    [
      'Security uploads of one commit',
      formatCount(maximums.security_uploads_per_commit),
      'Further uploads of the commit are refused.',
    ],
    ['Artifact', formatSize(maximums.artifact_bytes), 'A larger file is skipped.'],
    ['Artifacts of one run', formatSize(maximums.artifact_bytes_per_run), 'Further files of the run are skipped.'],
  ]
  return (
    <Stack gap="sm" component="section" aria-labelledby="maximums">
      <Title order={2} id="maximums">
        Limits of a single object
      </Title>
      <Table.ScrollContainer minWidth={300} type="native">
        <Table aria-labelledby="maximums">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Object</Table.Th>
              <Table.Th>Maximum</Table.Th>
              <Table.Th>At the limit</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(([label, value, what]) => (
              <Table.Tr key={label}>
                <Table.Td>{label}</Table.Td>
                <Table.Td style={{ whiteSpace: 'nowrap' }}>{value}</Table.Td>
                <Table.Td c="dimmed">{what}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  )
}

type CountedLimit = Usage['limits'][number]

/** How much of a monthly limit is used. */
function UsageBar({ limit: { name, used, limit, resets_at } }: { limit: CountedLimit }) {
  const { title, format, atLimit } = LIMITS[name]
  const share = limit === null ? null : limit === 0 ? 1 : used / limit
  return (
    <Paper p="md" component="section" aria-labelledby={name}>
      <Stack gap="xs">
        <Group justify="space-between" align="baseline">
          <Title order={2} id={name}>
            {title}
          </Title>
          <Text size="sm" fw={500}>
            {format(used)} {limit === null ? 'used' : `of ${format(limit)}`}
          </Text>
        </Group>
        {share !== null && (
          <Progress.Root size="md">
            <Progress.Section
              value={Math.min(share * 100, 100)}
              color={`var(--shiplock-${toneOf(share)})`}
              aria-label={`${title}: ${formatPercent(share)} used`}
              aria-valuetext={`${format(used)} of ${format(limit ?? 0)}`}
            />
          </Progress.Root>
        )}
        <Text size="sm" c="dimmed" component="div">
          {share === null ? 'Not limited by the plan. ' : `${stateOf(share)} `}
          Resets <Time at={resets_at} />, on {formatTime(resets_at)}.
        </Text>
        {share !== null && (
          <Text size="sm" c="dimmed">
            {atLimit}
          </Text>
        )}
      </Stack>
    </Paper>
  )
}

function toneOf(share: number): string {
  if (share >= 1) return 'failure'
  return share >= NEARLY ? 'waiting' : 'chart-1'
}

function stateOf(share: number): string {
  if (share >= 1) return 'The limit is reached.'
  return share >= NEARLY ? `${formatPercent(share)} used, nearly at the limit.` : `${formatPercent(share)} used.`
}

/** The plan of an organization, and what is used of it. */
type Usage = operations['getUsage']['responses'][200]['content']['application/json']['data']
