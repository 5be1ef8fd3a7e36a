import { Code, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useOrganization } from '../api/session.ts'
import { Facts } from '../page/facts.tsx'
import { ExternalLink, Link } from '../page/link.tsx'
import { formatCount } from '../page/numbers.ts'
import { Page } from '../page/page.tsx'
import { pages } from '../page/pages.ts'
import { PersonName } from '../page/person.tsx'
import { QueryView } from '../page/query-view.tsx'
import { Section } from '../page/section.tsx'
import { Time } from '../page/time.tsx'
import { ChainPosition } from './chain-position.tsx'
import { ChangeChecks } from './change-checks.tsx'
import { ChangeCommits } from './change-commits.tsx'
import { ChangeReviews } from './change-reviews.tsx'
import { authorOf, type Change, LANDED_BY_NAMES, shortSha, titleOf } from './change-words.ts'
import { DeviationBadges } from './deviation-badges.tsx'
import { changeQuery } from './routes.ts'
import { StatementPanel } from './statement-panel.tsx'

const route = getRouteApi('/signed-in/orgs/$org/provenance/changes/$id')

/** One change: what landed, who reviewed it, its deviations, and its signed record. */
export function ChangePage() {
  const { slug: org } = useOrganization()
  const { id } = route.useParams()
  const query = useQuery(changeQuery(org, id))
  const title = query.data ? titleOf(query.data.data) : 'Change'
  return (
    <Page
      title={title}
      heading={<bdi>{title}</bdi>}
      breadcrumbs={
        <Link {...pages.changes(org)} size="sm">
          Changes
        </Link>
      }
    >
      <QueryView query={query} of="change">
        {({ data }) => <ChangeSections org={org} change={data} />}
      </QueryView>
    </Page>
  )
}

function ChangeSections({ org, change }: { org: string; change: Change }) {
  const { repository, branch, commits, pull_request, pusher, landed_at, landed_by, deviations, security } = change
  return (
    <Stack gap="xl">
      <Section title="Deviations">
        <DeviationBadges deviations={deviations} />
      </Section>
      <Section title="What landed">
        <Facts
          facts={[
            ['Repository', repository.full_name],
            ['Branch', branch],
            ['Landed', <Time key="landed" at={landed_at} />],
            ['Landed by', change.forced ? `${LANDED_BY_NAMES[landed_by]}, with force` : LANDED_BY_NAMES[landed_by]],
            [
              'Pull request',
              pull_request && <ExternalLink href={pull_request.url}>{`#${pull_request.number}`}</ExternalLink>,
            ],
            [pusher ? 'Pushed by' : 'Author', <PersonName key="author" name={authorOf(change) ?? 'Deleted account'} />],
            [
              'Merged by',
              pull_request?.merged_by ? <PersonName key="merger" name={pull_request.merged_by.login} /> : null,
            ],
            [
              'Commit',
              <Code key="commit" title={commits.merge}>
                {shortSha(commits.merge)}
              </Code>,
            ],
            ['Open issues then', security && describeIssues(security.open)],
            ['Issues added', security?.added ? describeIssues(security.added) : null],
          ]}
        />
      </Section>
      <StatementPanel
        org={org}
        title="Signed record"
        kind="change"
        id={change.id}
        commit={commits.merge}
        filename={`change-${change.id}.json`}
      />
      <ChangeReviews change={change} />
      <ChangeChecks org={org} change={change} />
      <ChangeCommits change={change} />
      <ChainPosition change={change} />
    </Stack>
  )
}

function describeIssues({ critical, high, medium, low }: NonNullable<Change['security']>['open']): string {
  const parts: [number, string][] = [
    [critical, 'critical'],
    [high, 'high'],
    [medium, 'medium'],
    [low, 'low'],
  ]
  const shown = parts.filter(([count]) => count > 0).map(([count, name]) => `${formatCount(count)} ${name}`)
  return shown.length === 0 ? 'None' : shown.join(', ')
}
