import { Group, Stack, Text, VisuallyHidden } from '@mantine/core'
import { useOrganization } from '../api/session.ts'
import { Link } from '../page/link.tsx'
import { pages } from '../page/pages.ts'
import { Time } from '../page/time.tsx'
import classes from './board.module.css'
import type { BoardCell, BoardDeployment } from './board.ts'
import { stateOf, versionOf } from './deployment-state.ts'
import { DeploymentStateBadge } from './deployment-state-badge.tsx'

/** What runs in one environment of a repository, and the newer deployment, if there is one. */
export function BoardPlace({ environment, place }: { environment: string; place: BoardCell | undefined }) {
  return (
    <div role="cell" className={classes.place} data-empty={place === undefined || undefined}>
      <Text size="xs" c="dimmed" className={classes.label}>
        {environment}
      </Text>
      {place === undefined ? <Nothing /> : <Place place={place} />}
    </div>
  )
}

function Nothing() {
  return (
    <Text size="sm" c="dimmed">
      <span aria-hidden>–</span>
      <VisuallyHidden>No deployments</VisuallyHidden>
    </Text>
  )
}

function Place({ place: { running, newer } }: { place: BoardCell }) {
  return (
    <Stack gap={4} align="flex-start" miw={0} w="100%">
      {running ? <Running deployment={running} /> : <NothingRuns />}
      {newer && <Newer deployment={newer} />}
    </Stack>
  )
}

function Running({ deployment }: { deployment: BoardDeployment }) {
  const { slug: org } = useOrganization()
  const { id, branch, author, commit_message, deployed_at, created_at } = deployment
  return (
    <Stack gap={0} miw={0} maw="100%">
      <Group gap={6} wrap="nowrap" miw={0}>
        <Link
          {...pages.deployment(org, id)}
          size="sm"
          fw={500}
          truncate
          title={commit_message ?? undefined}
          className={classes.version}
        >
          {versionOf(deployment)}
        </Link>
        {branch && (
          <Text size="xs" c="dimmed" truncate title={branch}>
            {branch}
          </Text>
        )}
      </Group>
      <Text size="xs" c="dimmed" truncate>
        <Time at={deployed_at ?? created_at} />
        {author && ` · ${author}`}
      </Text>
    </Stack>
  )
}

function NothingRuns() {
  return (
    <Text size="xs" c="dimmed">
      Nothing deployed yet
    </Text>
  )
}

function Newer({ deployment }: { deployment: BoardDeployment }) {
  const { slug: org } = useOrganization()
  const { id, created_at } = deployment
  return (
    <Group gap={6} maw="100%">
      <DeploymentStateBadge state={stateOf(deployment)} />
      <Group gap={6}>
        <Link {...pages.deployment(org, id)} size="xs" className={classes.version}>
          {versionOf(deployment)}
        </Link>
        <Text size="xs" c="dimmed">
          <Time at={created_at} />
        </Text>
      </Group>
    </Group>
  )
}
