import { Group, Stack, Text } from '@mantine/core'
import { useOrganization } from '../api/session.ts'
import { ButtonLink, Link } from '../page/link.tsx'
import { pages } from '../page/pages.ts'
import { Section } from '../page/section.tsx'
import { Time } from '../page/time.tsx'
import classes from './board.module.css'
import type { BoardDeployment } from './board.ts'
import { stateOf, versionOf } from './deployment-state.ts'
import { DeploymentStateBadge } from './deployment-state-badge.tsx'

const SHOWN_MAX = 5

/** What waits for somebody, longest waiting first. */
export function WaitingDeployments({ waiting }: { waiting: BoardDeployment[] }) {
  const { slug: org } = useOrganization()
  return (
    <Section
      title="Waiting"
      count={waiting.length}
      actions={
        waiting.length > SHOWN_MAX && (
          <ButtonLink size="xs" {...pages.deployments(org)} search={{ view: 'list', status: 'pending_approval' }}>
            Show all
          </ButtonLink>
        )
      }
    >
      <Stack component="ul" gap={0} className={classes.waiting}>
        {waiting.slice(0, SHOWN_MAX).map((deployment) => (
          <WaitingDeployment key={deployment.id} org={org} deployment={deployment} />
        ))}
      </Stack>
    </Section>
  )
}

function WaitingDeployment({ org, deployment }: { org: string; deployment: BoardDeployment }) {
  const { id, repository_full_name: repository, environment, author, created_at } = deployment
  return (
    <Group component="li" gap="sm" className={classes.waitingRow}>
      <Group gap="sm" className={classes.waitingName}>
        <DeploymentStateBadge state={stateOf(deployment)} />
        <Link {...pages.deployment(org, id)} size="sm" fw={500}>
          <bdi>{repository}</bdi> to <bdi>{environment}</bdi>
        </Link>
      </Group>
      <Text size="xs" c="dimmed">
        {[versionOf(deployment), author].filter(Boolean).join(' · ')} · waiting since <Time at={created_at} />
      </Text>
    </Group>
  )
}
