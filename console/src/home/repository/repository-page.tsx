import { Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { IconExternalLink, IconGitBranch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useOrganization } from '../../api/session.ts'
import { DeploymentStateBadge } from '../../deployments/facts/deployment-parts.tsx'
import { fullStateOf } from '../../deployments/facts/deployment-state.ts'
import { SeverityBadge, StatusBadge } from '../../page/badges.tsx'
import { ExternalButton, Link } from '../../page/link.tsx'
import { PROVIDER_NAMES } from '../../page/names.ts'
import { Page } from '../../page/page.tsx'
import { type PageAddress, pages } from '../../page/pages.ts'
import { oneLine, titleOf } from '../../page/reported-text.ts'
import { useRepositoryAddress, withoutHost } from '../../page/repository.tsx'
import { Section } from '../../page/sections.tsx'
import { Empty, LineSkeleton, Problem } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { RECENT, repositoryQueries } from '../facts/queries.ts'
import classes from './repository.module.css'
import { SbomSection } from './sbom-section.tsx'

const route = getRouteApi('/signed-in/orgs/$org/repository')

/** One repository: its open issues, and the newest of everything else that is known of it. */
export function RepositoryPage() {
  const { name = '', provider } = route.useSearch()
  const { slug: org } = useOrganization()
  const repository = withoutHost(name)
  const address = useRepositoryAddress({ repository, provider: provider ?? null, repository_id: null })
  return (
    <Page
      title={name === '' ? 'Repository' : oneLine(repository, 200)}
      heading={<bdi>{oneLine(repository, 200) || 'Repository'}</bdi>}
      description={provider && `On ${PROVIDER_NAMES[provider]}`}
      actions={
        <ExternalButton href={address} icon={IconExternalLink}>
          Open on the code host
        </ExternalButton>
      }
    >
      {name === '' ? (
        <Empty icon={IconGitBranch} title="No repository">
          The address names none. Open a repository from a run, a deployment or an issue.
        </Empty>
      ) : (
        <Sections org={org} repository={repository} provider={provider} />
      )}
    </Page>
  )
}

type SectionsProps = { org: string; repository: string; provider: keyof typeof PROVIDER_NAMES | undefined }

function Sections({ org, repository, provider }: SectionsProps) {
  const read = repositoryQueries(org, repository, provider)
  const queries = {
    issues: useQuery(read.issues),
    deployments: useQuery(read.deployments),
    runs: useQuery(read.runs),
    uploads: useQuery(read.uploads),
    changes: useQuery(read.changes),
  }
  const named = { repository, provider }
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="xl">
      <Newest
        title="Open issues"
        query={queries.issues}
        empty="No open issue is known."
        all={
          <Link {...pages.issues(org)} search={{ ...named, status: 'open', sort: 'severity' }} size="sm">
            All open issues
          </Link>
        }
      >
        {({ id, title, severity, first_seen_at }) => ({
          id,
          badge: <SeverityBadge severity={severity} />,
          link: <Row to={pages.issue(org, id)} text={oneLine(title, 200) || 'Untitled issue'} />,
          at: first_seen_at,
        })}
      </Newest>
      <Newest
        title="Deployments"
        query={queries.deployments}
        empty="Nothing was deployed."
        all={
          <Link {...pages.deployments(org)} search={{ view: 'list', repository }} size="sm">
            All deployments
          </Link>
        }
      >
        {(deployment) => ({
          id: deployment.id,
          badge: <DeploymentStateBadge state={fullStateOf(deployment)} />,
          link: <Row to={pages.deployment(org, deployment.id)} text={deployment.environment} />,
          at: deployment.created_at,
        })}
      </Newest>
      <Newest
        title="Runs"
        query={queries.runs}
        empty="No run is known."
        all={
          <Link {...pages.runs(org)} search={{ repository }} size="sm">
            All runs
          </Link>
        }
      >
        {(run) => ({
          id: run.id,
          badge: <StatusBadge status={run.status} />,
          link: <Row to={pages.run(org, run.id)} text={titleOf(run)} />,
          at: run.started_at,
        })}
      </Newest>
      <Newest
        title="Reports of scanners"
        query={queries.uploads}
        empty="Nothing was scanned."
        all={
          <Group gap="md">
            <Link {...pages.uploads(org)} search={{ repository }} size="sm">
              All uploads
            </Link>
            <Link {...pages.findings(org)} search={named} size="sm">
              Findings
            </Link>
          </Group>
        }
      >
        {({ id, filename, status, created_at }) => ({
          id,
          badge: <StatusBadge status={status} />,
          link: <Row to={pages.upload(org, id)} text={filename} />,
          at: created_at,
        })}
      </Newest>
      <SbomSection org={org} repository={repository} provider={provider} />
      <Newest
        title="Changes"
        query={queries.changes}
        empty="No change was recorded. Changes are of connected repositories."
        all={
          <Link {...pages.changes(org)} search={{ repository }} size="sm">
            All changes
          </Link>
        }
      >
        {({ id, pull_request, commits, branch, landed_at }) => ({
          id,
          link: (
            <Row
              to={pages.change(org, id)}
              text={pull_request?.title ?? `Push of ${commits.merge.slice(0, 7)} to ${branch}`}
            />
          ),
          at: landed_at,
        })}
      </Newest>
      <Section title="Policies">
        <Text size="sm">
          <Link {...pages.results(org)} search={{ repository }} size="sm">
            Compliance results
          </Link>
        </Text>
      </Section>
    </SimpleGrid>
  )
}

type Shown = { id: string; badge?: ReactNode; link: ReactNode; at: string }

type NewestProps<Item> = {
  title: string
  query: { data: { data: Item[] } | undefined; error: unknown; refetch: () => unknown }
  empty: string
  all: ReactNode
  children: (item: Item) => Shown
}

/** The first few of a list, and where all of them are. */
function Newest<Item>({ title, query: { data, error, refetch }, empty, all, children }: NewestProps<Item>) {
  return (
    <Section title={title} actions={all}>
      {data === undefined &&
        (error ? (
          <Problem error={error} title={`“${title}” could not be loaded`} retry={() => void refetch()} />
        ) : (
          <LineSkeleton lines={3} />
        ))}
      {data?.data.length === 0 && (
        <Text size="sm" c="dimmed">
          {empty}
        </Text>
      )}
      {data !== undefined && data.data.length > 0 && (
        <Stack component="ul" gap={0} className={classes.rows}>
          {data.data
            .slice(0, RECENT)
            .map(children)
            .map(({ id, badge, link, at }) => (
              <li key={id} className={classes.row}>
                {badge}
                <span className={classes.name}>{link}</span>
                <Text span size="xs" c="dimmed" className={classes.at}>
                  <Time at={at} />
                </Text>
              </li>
            ))}
        </Stack>
      )}
    </Section>
  )
}

function Row({ to, text }: { to: PageAddress; text: string }) {
  return (
    <Link {...to} size="sm" truncate display="block" title={text}>
      <bdi>{text}</bdi>
    </Link>
  )
}
