import { Group, Paper, Stack, Text } from '@mantine/core'
import { IconRocket } from '@tabler/icons-react'
import { api } from '../api/client.ts'
import { StatusBadge } from '../page/badges.tsx'
import { Link } from '../page/link.tsx'
import { pages } from '../page/pages.ts'
import { Section } from '../page/section.tsx'
import { Problem } from '../page/states.tsx'
import { Time } from '../page/time.tsx'

const SHOWN_MAX = 100

/** Where a run deploys to. */
export function RunDeployments({ org, runId }: { org: string; runId: string }) {
  const query = api.useQuery('get', '/app/api/orgs/{org}/deployments', {
    params: { path: { org }, query: { run_id: runId, limit: SHOWN_MAX } },
  })
  if (query.isError)
    return <Problem error={query.error} title="The deployments could not be loaded" retry={() => query.refetch()} />
  const deployments = query.data?.data ?? []
  if (deployments.length === 0) return null
  return (
    <Section title="Deployments" count={deployments.length}>
      <Stack gap="xs">
        {deployments.map(({ id, environment, status, attempt, created_at }) => (
          <Paper key={id} p="sm">
            <Group gap="sm">
              <IconRocket size={18} aria-hidden />
              <Link {...pages.deployment(org, id)} size="sm" fw={500}>
                <bdi>{environment}</bdi>
              </Link>
              <StatusBadge status={status} />
              <Text size="xs" c="dimmed">
                Attempt {attempt} · <Time at={created_at} />
              </Text>
            </Group>
          </Paper>
        ))}
      </Stack>
    </Section>
  )
}
