import { Group, Skeleton, Stack, Text } from '@mantine/core'
import { IconFilterOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useOrganization } from '../../api/session.ts'
import { ChoiceFilter, Filters, TextFilter } from '../../list/filters.tsx'
import { useListPage } from '../../list/list-page.ts'
import { ButtonLink, Link } from '../../page/link.tsx'
import { pages } from '../../page/pages.ts'
import { Section } from '../../page/sections.tsx'
import { Empty, QueryView } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { type Attention, type BoardDeployment, layOut } from '../facts/board.ts'
import { DeploymentStateBadge, NoDeployments } from '../facts/deployment-parts.tsx'
import { stateOf, versionOf } from '../facts/deployment-state.ts'
import { boardQuery } from '../facts/queries.ts'
import classes from './board.module.css'
import { BoardMatrix } from './board-matrix.tsx'

const route = getRouteApi('/signed-in/orgs/$org/deployments')

const ATTENTION_OPTIONS: { value: Attention; label: string }[] = [
  { value: 'waiting', label: 'Something waits' },
  { value: 'failed', label: 'The latest failed' },
]

const SHOWN_MAX = 5

/** Environments × repositories: what runs where, and what waits. */
export function BoardView() {
  const { slug: org } = useOrganization()
  const { search, show } = route.useSearch()
  const { isFiltered, filter, clear } = useListPage({ search, show })
  const query = useQuery(boardQuery(org, { search }))
  return (
    <>
      <Filters isFiltered={isFiltered} onClear={clear}>
        <TextFilter
          label="Repository"
          placeholder="Part of the name"
          value={search}
          onChange={(search) => filter({ search })}
        />
        <ChoiceFilter
          label="Show where"
          width={170}
          value={show}
          options={ATTENTION_OPTIONS}
          onChange={(show) => filter({ show })}
        />
      </Filters>
      <QueryView query={query} of="deployments" skeleton={<BoardSkeleton />}>
        {({ data: { cells, waiting, truncated } }) => {
          const { rows, environments } = layOut(cells, show)
          return (
            <Stack gap="xl">
              {waiting.length > 0 && <WaitingDeployments waiting={waiting} />}
              {rows.length > 0 && <BoardMatrix rows={rows} environments={environments} />}
              {rows.length === 0 && (isFiltered ? <NothingFound /> : <NoDeployments />)}
              {truncated && (
                <Text size="sm" c="dimmed">
                  There are more repositories than these. Search for the others by name.
                </Text>
              )}
            </Stack>
          )
        }}
      </QueryView>
    </>
  )
}

function NothingFound() {
  return (
    <Empty icon={IconFilterOff} title="No repository matches">
      No repository with deployments has this in its name, or nothing there needs attention.
    </Empty>
  )
}

function BoardSkeleton() {
  return (
    <Stack gap={6} aria-hidden>
      {Array.from({ length: 8 }, (_, row) => (
        <Skeleton key={row} height={64} />
      ))}
    </Stack>
  )
}

/** What waits for somebody, longest waiting first. */
function WaitingDeployments({ waiting }: { waiting: BoardDeployment[] }) {
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
