import { Stack, Text } from '@mantine/core'
import { IconCircleCheck, IconCircleX } from '@tabler/icons-react'
import type { Column } from '../list/data-list.tsx'
import { ToneBadge } from '../page/badges.tsx'
import { Link } from '../page/link.tsx'
import { formatCount } from '../page/numbers.ts'
import { pages } from '../page/pages.ts'
import { Time } from '../page/time.tsx'
import { ModeBadge } from './facts/mode-badge.tsx'
import { ENGINE_NAMES, type Policy } from './facts/vocabulary.ts'

export function policyColumns(org: string): Column<Policy>[] {
  return [
    {
      key: 'name',
      header: 'Policy',
      width: 'minmax(0, 3fr)',
      cell: ({ id, name, repository, path, engine }) => (
        <Stack gap={0}>
          <Link {...pages.policy(org, id)} fw={500} size="sm" lineClamp={1}>
            {name}
          </Link>
          <Text size="xs" c="dimmed" lineClamp={1}>
            {engine === null ? 'Unreadable' : ENGINE_NAMES[engine]}
            {path !== null && ` · ${repository} · ${path}`}
          </Text>
        </Stack>
      ),
    },
    { key: 'mode', header: 'Mode', width: '7rem', cell: ({ mode }) => <ModeBadge mode={mode} /> },
    {
      key: 'failing',
      header: 'Repositories',
      width: '10rem',
      cell: (policy) => <FailingRepositories org={org} policy={policy} />,
    },
    {
      key: 'version',
      header: 'Version',
      width: '4.5rem',
      from: 'md',
      align: 'end',
      cell: ({ version }) => formatCount(version),
    },
    {
      key: 'applied',
      header: 'Applied',
      width: 'minmax(9rem, 1.2fr)',
      cell: ({ changed_by, updated_at }) => (
        <Text size="sm" c="dimmed" lineClamp={2}>
          <Time at={updated_at} />
          {changed_by && ` by ${changed_by.name}`}
        </Text>
      ),
    },
  ]
}

function FailingRepositories({ org, policy: { id, results } }: { org: string; policy: Policy }) {
  const evaluated = results.failing + results.passing + results.warning
  if (evaluated === 0)
    return (
      <Text size="sm" c="dimmed">
        Not evaluated
      </Text>
    )
  const text = `${formatCount(results.failing)} of ${formatCount(evaluated)} failing`
  return (
    <Link
      {...pages.results(org)}
      search={{ policy: id, ...(results.failing > 0 && { status: 'failing' as const }) }}
      underline="never"
      aria-label={`Repositories: ${text}`}
      style={{ display: 'inline-flex', minHeight: 24, alignItems: 'center' }}
    >
      <ToneBadge
        tone={results.failing > 0 ? 'failure' : 'success'}
        icon={results.failing > 0 ? IconCircleX : IconCircleCheck}
      >
        {text}
      </ToneBadge>
    </Link>
  )
}
