import { Group, Text, VisuallyHidden } from '@mantine/core'
import type { Column } from '../list/data-list.tsx'
import { StatusBadge } from '../page/badges.tsx'
import { Link } from '../page/link.tsx'
import { pages } from '../page/pages.ts'
import type { ComplianceResult } from './facts/vocabulary.ts'
import type { MatrixColumn, MatrixRow } from './result-matrix.ts'

/** The repository, and a column for each policy. On a narrow screen each cell names its policy. */
export function matrixColumns(org: string, policies: readonly MatrixColumn[]): Column<MatrixRow>[] {
  return [
    {
      key: 'repository',
      header: 'Repository',
      width: 'minmax(11rem, 2fr)',
      cell: ({ repository }) => (
        <Text size="sm" fw={500} lineClamp={2}>
          <Repository name={repository} />
        </Text>
      ),
    },
    ...policies.map(({ id, name }) => ({
      key: id,
      header: name,
      width: 'minmax(8rem, 1fr)',
      cell: ({ results }: MatrixRow) => <Cell org={org} policy={name} result={results.get(id)} />,
    })),
  ]
}

/** The host is the same for most repositories, so it stands back. */
function Repository({ name }: { name: string }) {
  const host = /^[^/]+\.[^/]+\//.exec(name)?.[0] ?? ''
  return (
    <>
      <Text span inherit c="dimmed" fw={400}>
        {host}
      </Text>
      {name.slice(host.length)}
    </>
  )
}

type CellProps = { org: string; policy: string; result: ComplianceResult | undefined }

function Cell({ org, policy, result }: CellProps) {
  if (result === undefined)
    return (
      <Text size="sm" c="dimmed" visibleFrom="sm">
        <span aria-hidden>–</span>
        <VisuallyHidden>Not covered</VisuallyHidden>
      </Text>
    )
  return (
    <Group gap="xs" wrap="nowrap" justify="space-between">
      <Text size="sm" c="dimmed" hiddenFrom="sm" lineClamp={1} aria-hidden>
        {policy}
      </Text>
      <Link
        {...pages.result(org)}
        search={{ policy: result.policy_id, repository: result.repository }}
        underline="never"
        aria-label={`${policy} on ${result.repository}: ${result.status.replace('_', ' ')}`}
        style={{ display: 'inline-flex', minHeight: 24, alignItems: 'center' }}
      >
        <StatusBadge status={result.status} />
      </Link>
    </Group>
  )
}
