import { Group, Stack, Text } from '@mantine/core'
import { IconCircleCheck, IconCircleMinus, IconCircleX, IconClock, IconMessage } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useOrganization } from '../../api/session.ts'
import { type Icon, PersonName, type Tone, ToneBadge } from '../../page/badges.tsx'
import { ExternalLink, Link } from '../../page/link.tsx'
import { formatCount } from '../../page/numbers.ts'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { CommitLink, RepositoryLink } from '../../page/repository.tsx'
import { Facts, Section } from '../../page/sections.tsx'
import { QueryView } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { authorOf, type Change, LANDED_BY_NAMES, shortSha, titleOf } from '../facts/change-words.ts'
import { DeviationBadges } from '../facts/provenance-parts.tsx'
import { changeQuery } from '../facts/queries.ts'
import classes from '../facts/rows.module.css'
import { ChainPosition, StatementPanel } from '../statement/statement-panel.tsx'
import { ChangeChecks, ChangeCommits } from './change-commits.tsx'

const route = getRouteApi('/signed-in/orgs/$org/provenance/changes/$id')

const STATES: Record<Review['state'], [label: string, tone: Tone, icon: Icon]> = {
  approved: ['Approved', 'success', IconCircleCheck],
  changes_requested: ['Changes requested', 'failure', IconCircleX],
  commented: ['Commented', 'neutral', IconMessage],
  dismissed: ['Dismissed', 'neutral', IconCircleMinus],
}

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
            [
              'Repository',
              <RepositoryLink key="repository" name={repository.full_name} provider={repository.provider} />,
            ],
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
              <CommitLink
                key="commit"
                sha={commits.merge}
                repository={repository.full_name}
                provider={repository.provider}
                repository_id={repository.id}
              />,
            ],
            ['Deployments', <DeploymentsLink key="deployments" org={org} commit={commits.merge} />],
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

function DeploymentsLink({ org, commit }: { org: string; commit: string }) {
  return (
    <Link {...pages.deployments(org)} search={{ view: 'list', commit }} size="sm">
      Deployments of this commit
    </Link>
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

type Review = Change['reviews'][number]

/** The reviews of the pull request, and those that came after its record. */
function ChangeReviews({ change: { reviews, amendments, pull_request } }: { change: Change }) {
  const late = amendments.flatMap(({ facts }) => (facts.review ? [facts.review] : []))
  const all = [
    ...reviews.map((review) => ({ review, isLate: false })),
    ...late.map((review) => ({ review, isLate: true })),
  ]
  return (
    <Section title="Reviews" count={all.length}>
      {all.length === 0 ? (
        <Text size="sm" c="dimmed">
          {pull_request ? 'Nobody reviewed the pull request.' : 'A push has no reviews.'}
        </Text>
      ) : (
        <Stack component="ul" gap={0} className={classes.rows}>
          {all.map(({ review, isLate }) => (
            <li key={`${review.id} ${isLate}`} className={classes.row}>
              <Group gap="sm">
                <ToneBadge tone={STATES[review.state][1]} icon={STATES[review.state][2]}>
                  {STATES[review.state][0]}
                </ToneBadge>
                <PersonName name={review.reviewer?.login ?? 'Deleted account'} />
                {review.stale && (
                  <ToneBadge tone="waiting" icon={IconClock}>
                    Stale
                  </ToneBadge>
                )}
                {isLate && (
                  <Text size="sm" c="dimmed">
                    After the merge
                  </Text>
                )}
              </Group>
              <Text size="sm" c="dimmed">
                {review.commit_sha && `${shortSha(review.commit_sha)} · `}
                <Time at={review.submitted_at} />
              </Text>
            </li>
          ))}
        </Stack>
      )}
    </Section>
  )
}
