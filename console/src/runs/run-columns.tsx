import { Group, Stack, Text } from '@mantine/core'
import { IconGitBranch } from '@tabler/icons-react'
import type { Schema } from '../api/client.ts'
import type { Column } from '../list/data-list.tsx'
import { StatusBadge } from '../page/badges.tsx'
import { Link } from '../page/link.tsx'
import { pages } from '../page/pages.ts'
import { PersonName } from '../page/person.tsx'
import { titleOf } from '../page/run-title.ts'
import { Time } from '../page/time.tsx'
import { TrustBadge } from '../page/trust-badge.tsx'
import { AnomalyBadges } from './anomaly-badges.tsx'
import { RunDuration } from './run-duration.tsx'

type Run = Schema<'PipelineRun'>

/** The columns of the list of runs. */
export function runColumns(org: string): Column<Run>[] {
  return [
    { key: 'status', header: 'Status', width: '7.25rem', cell: ({ status }) => <StatusBadge status={status} /> },
    { key: 'run', header: 'Run', width: 'minmax(0, 4fr)', cell: (run) => <RunName org={org} run={run} /> },
    {
      key: 'branch',
      header: 'Branch',
      width: 'minmax(0, 1.2fr)',
      from: 'md',
      cell: ({ branch }) => <Branch name={branch} />,
    },
    {
      key: 'author',
      header: 'Author',
      width: 'minmax(0, 1.1fr)',
      from: 'lg',
      cell: ({ author_login, actor_login }) => {
        const name = author_login ?? actor_login
        return name && <PersonName name={name} />
      },
    },
    { key: 'trust', header: 'Trust', width: '7.5rem', from: 'lg', cell: ({ trust }) => <TrustBadge trust={trust} /> },
    {
      key: 'duration',
      header: 'Duration',
      width: '8.5rem',
      from: 'md',
      align: 'end',
      cell: (run) => <RunDuration {...run} />,
    },
    {
      key: 'started',
      header: 'Started',
      width: '8rem',
      align: 'end',
      cell: ({ started_at }) => <Time at={started_at} />,
    },
  ]
}

function RunName({ org, run }: { org: string; run: Run }) {
  const { id, repository_full_name, workflow_name, run_number, anomaly_reasons } = run
  return (
    <Stack gap={0}>
      <Group gap={8} wrap="nowrap">
        <Link {...pages.run(org, id)} fw={500} size="sm" truncate title={titleOf(run)}>
          <bdi>{titleOf(run)}</bdi>
        </Link>
        <AnomalyBadges reasons={anomaly_reasons} />
      </Group>
      <Text size="xs" c="dimmed" truncate>
        <bdi>{repository_full_name}</bdi> · <bdi>{workflow_name}</bdi> {run_number !== null && `#${run_number}`}
      </Text>
    </Stack>
  )
}

function Branch({ name }: { name: string | null }) {
  if (name === null) return null
  return (
    <Group gap={4} wrap="nowrap" c="dimmed">
      <IconGitBranch size={14} aria-hidden style={{ flex: 'none' }} />
      <Text span size="sm" truncate title={name}>
        <bdi>{name}</bdi>
      </Text>
    </Group>
  )
}
