import { Group, Stack, Text } from '@mantine/core'
import { IconRocket } from '@tabler/icons-react'
import { useQueries, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { asApiError } from '../../api/api-error.ts'
import type { Schema } from '../../api/client.ts'
import { useCursorList } from '../../list/list-page.ts'
import { SeverityBadge, StatusBadge, ToneBadge } from '../../page/badges.tsx'
import { CopyText } from '../../page/copy.tsx'
import { Link } from '../../page/link.tsx'
import { EXPOSURE_NAMES } from '../../page/names.ts'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { oneLine } from '../../page/reported-text.ts'
import { isWholeSha, RepositoryLink } from '../../page/repository.tsx'
import { Facts, Section } from '../../page/sections.tsx'
import { LineSkeleton, Problem, QueryView } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { directText } from '../facts/inventory-words.ts'
import { componentQuery, liveOfCommitQuery, packageIssuesQuery, versionsQuery } from '../facts/queries.ts'
import { OccurrenceList } from './occurrence-list.tsx'

const route = getRouteApi('/signed-in/orgs/$org/inventory/$id')

/** So many commits are asked for their deployments. */
const COMMITS_MAX = 10
const VERSIONS_MAX = 50

type Component = Schema<'ComponentWithOccurrences'>

/** One component: where it is, which vulnerabilities it has, and where it runs. */
export function ComponentPage() {
  const { org, id } = route.useParams()
  const query = useQuery(componentQuery(org, id))
  const component = query.data?.data
  const title = component ? oneLine(`${component.name} ${component.version ?? ''}`, 200) : 'Component'
  return (
    <Page
      title={title}
      heading={component && <bdi>{title}</bdi>}
      description={component && <Identity component={component} />}
      breadcrumbs={
        <Link {...pages.components(org)} size="sm">
          Inventory
        </Link>
      }
    >
      <QueryView query={query} of="component">
        {({ data }) => (
          <Stack gap="xl">
            <ComponentFacts component={data} />
            <Vulnerabilities org={org} component={data} />
            <LiveDeployments org={org} component={data} />
            <OccurrenceList id={id} />
            <Versions org={org} component={data} />
          </Stack>
        )}
      </QueryView>
    </Page>
  )
}

/** What identifies the component, if that is more than its name. */
function Identity({ component: { purl, cpe } }: { component: Component }) {
  if (purl !== null) return <CopyText text={purl} of="package URL" />
  return cpe === null ? 'Identified by its name and version only' : <CopyText text={cpe} of="CPE" />
}

function ComponentFacts({ component }: { component: Component }) {
  const { ecosystem, type, version, licenses, direct, first_seen_at, last_seen_at } = component
  return (
    <Facts
      facts={[
        ['Ecosystem', ecosystem ?? `${type} (advisories are not evaluated)`],
        ['Version', version === null ? 'Not stated' : <bdi key="version">{oneLine(version, 100)}</bdi>],
        [
          'Licenses',
          licenses.length === 0 ? 'Not stated' : <bdi key="licenses">{oneLine(licenses.join(', '), 300)}</bdi>,
        ],
        ['Dependency', directText(direct)],
        ['First seen', <Time key="first" at={first_seen_at} />],
        ['Last seen', last_seen_at === null ? 'No newest document has it' : <Time key="last" at={last_seen_at} />],
      ]}
    />
  )
}

/** The issues of the package, those of this version first. */
function Vulnerabilities({ org, component }: { org: string; component: Component }) {
  const { name, version } = component
  const list = useCursorList(packageIssuesQuery(org, name))
  const isOfVersion = ({ package_version }: Schema<'Issue'>) => package_version === version
  const issues = list.rows?.toSorted((a, b) => Number(isOfVersion(b)) - Number(isOfVersion(a)))
  return (
    <Section title="Vulnerabilities" count={issues && issues.length > 0 && !list.hasMore ? issues.length : undefined}>
      {issues === undefined &&
        (list.error ? <NoIssues error={list.error} retry={list.refresh} /> : <LineSkeleton lines={2} />)}
      {issues?.length === 0 && (
        <Text size="sm" c="dimmed">
          No issue of this package is known. Issues are of what newest documents of tracked branches contain. What only
          runs can be affected without one: the page of a vulnerability says so.
        </Text>
      )}
      <Stack gap="xs">
        {issues?.map((issue) => (
          <IssueRow key={issue.id} org={org} issue={issue} isOfVersion={isOfVersion(issue)} />
        ))}
      </Stack>
      {list.hasMore && (
        <Link {...pages.issues(org)} search={{ package: name }} size="sm">
          All issues of the package
        </Link>
      )}
    </Section>
  )
}

function NoIssues({ error, retry }: { error: unknown; retry: () => void }) {
  if (asApiError(error)?.status !== 402)
    return <Problem error={error} title="The vulnerabilities could not be loaded" retry={retry} />
  return (
    <Text size="sm" c="dimmed">
      Not shown: your plan does not include issues.
    </Text>
  )
}

type IssueRowProps = { org: string; issue: Schema<'Issue'>; isOfVersion: boolean }

function IssueRow({ org, issue, isOfVersion }: IssueRowProps) {
  const { id, title, severity, status, repository, package_version, vuln_ids, intel } = issue
  const vulnerability = intel.canonical_id ?? vuln_ids[0]
  return (
    <Group gap="sm" wrap="nowrap" align="flex-start">
      <SeverityBadge severity={severity} />
      <Stack gap={6} miw={0}>
        <Group gap="xs">
          {vulnerability && (
            <Link {...pages.vulnerability(org, vulnerability)} size="sm" fw={500}>
              {oneLine(vulnerability, 60)}
            </Link>
          )}
          <StatusBadge status={status} />
        </Group>
        <Text size="xs" c="dimmed">
          <Link {...pages.issue(org, id)} size="xs" underline="always">
            <bdi>{oneLine(title, 150) || 'Untitled issue'}</bdi>
          </Link>{' '}
          in <bdi>{oneLine(repository, 100)}</bdi>
          {!isOfVersion && `, found with version ${oneLine(package_version ?? 'not stated', 60)}`}
        </Text>
      </Stack>
    </Group>
  )
}

/** The deployments that run a commit whose newest document has the component. */
function LiveDeployments({ org, component }: { org: string; component: Component }) {
  const present = component.occurrences.filter(({ removed_at, lane }) => removed_at === null && lane !== 'untrusted')
  const commits = [...new Set(present.map(({ commit_sha }) => commit_sha))].filter(isWholeSha)
  const asked = useQueries({ queries: commits.slice(0, COMMITS_MAX).map((commit) => liveOfCommitQuery(org, commit)) })
  const repositories = new Set(present.map(({ repository }) => repository))
  const live = asked
    .flatMap(({ data }) => data?.data ?? [])
    .filter(({ repository_full_name }) => repositories.has(repository_full_name))
  const failed = asked.find(({ error }) => error !== null)
  return (
    <Section title="Runs in" count={live.length > 0 ? live.length : undefined}>
      <Text size="sm" c="dimmed">
        The deployments that run a commit whose newest bill of materials has this component. Other deployments can
        contain it, too: the page of a vulnerability says of each what is known.
      </Text>
      {failed && (
        <Problem
          error={failed.error}
          title="The deployments could not be loaded"
          retry={() => void Promise.all(asked.map(({ refetch }) => refetch()))}
        />
      )}
      {asked.some(({ isPending }) => isPending) && <LineSkeleton lines={2} />}
      {live.length === 0 && !failed && !asked.some(({ isPending }) => isPending) && (
        <Text size="sm">{describeNone(present.length, commits.length)}</Text>
      )}
      <Stack gap="xs">
        {live.map(({ id, environment, repository_full_name, exposure, live: state }) => (
          <Group key={id} gap="sm">
            <ToneBadge tone="running" icon={IconRocket}>
              Live
            </ToneBadge>
            <Link {...pages.deployment(org, id)} size="sm" fw={500}>
              <bdi>{repository_full_name}</bdi> to <bdi>{environment}</bdi>
            </Link>
            <Text size="xs" c="dimmed">
              Exposure: {EXPOSURE_NAMES[exposure].toLowerCase()}
              {state && (
                <>
                  {' '}
                  · since <Time at={state.since} />
                </>
              )}
            </Text>
          </Group>
        ))}
      </Stack>
      {commits.length > COMMITS_MAX && (
        <Text size="sm" c="dimmed">
          Only the {COMMITS_MAX} newest of {commits.length} commits were looked at.
        </Text>
      )}
    </Section>
  )
}

function describeNone(present: number, commits: number): string {
  if (present === 0) return 'No newest document that counts as evidence has it. Deployments of earlier commits can.'
  return commits === 0 ? 'Not known: no newest document names its commit.' : 'No such deployment runs.'
}

function Versions({ org, component }: { org: string; component: Component }) {
  const list = useCursorList(versionsQuery(org, component))
  const others = list.rows?.filter(({ id, name }) => id !== component.id && name === component.name)
  if (others === undefined || others.length === 0) return null
  return (
    <Section title="Other versions" count={list.hasMore ? undefined : others.length}>
      <Stack gap="xs">
        {others.slice(0, VERSIONS_MAX).map(({ id, version, repositories: { count, names } }) => (
          <Group key={id} gap="sm">
            <Link {...pages.component(org, id)} size="sm">
              <bdi>{version === null ? 'Without a version' : oneLine(version, 100)}</bdi>
            </Link>
            <Text size="xs" c="dimmed" component="div">
              {names[0] === undefined ? 'No longer present' : <RepositoryLink name={names[0]} />}
              {count > 1 && ` and ${count - 1} more`}
            </Text>
          </Group>
        ))}
      </Stack>
      {(list.hasMore || others.length > VERSIONS_MAX) && (
        <Link {...pages.components(org)} search={{ package: component.name, present: 'any' }} size="sm">
          All versions
        </Link>
      )}
    </Section>
  )
}
