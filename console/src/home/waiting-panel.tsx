import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Schema } from '../api/client.ts'
import { usePermission } from '../api/session.ts'
import { ButtonLink, Link } from '../page/link.tsx'
import { formatCount } from '../page/numbers.ts'
import { pages } from '../page/pages.ts'
import { Time } from '../page/time.tsx'
import classes from './home.module.css'
import { Panel } from './panel.tsx'
import { waitingQuery } from './routes.ts'

type Deployment = Schema<'Deployment'>

const SHOWN = 5

/** Deployments that wait: first those that the reader can answer, the longest waiting first. */
export function WaitingPanel({ org }: { org: string }) {
  const canAnswer = usePermission('answer_deployment_gates')
  const query = useQuery(waitingQuery(org))
  const isMine = ({ custom_rule_state }: Deployment) => canAnswer && custom_rule_state === 'pending'
  const waiting = query.data?.data.toSorted(
    (a, b) => Number(isMine(b)) - Number(isMine(a)) || a.created_at.localeCompare(b.created_at),
  )
  const mine = waiting?.filter(isMine).length ?? 0
  const total = `${formatCount(waiting?.length ?? 0)}${query.data?.next_cursor ? '+' : ''}`
  return (
    <Panel
      title={canAnswer ? 'Waiting for you' : 'Waiting for approval'}
      items={waiting?.slice(0, SHOWN)}
      count={canAnswer && String(mine) !== total ? `${formatCount(mine)} of ${total}` : total}
      error={query.error}
      retry={() => void query.refetch()}
      empty="No deployment waits for approval."
      itemKey={({ id }) => id}
      more={
        <Link {...pages.deployments(org)} search={WAITING} size="sm">
          All waiting deployments
        </Link>
      }
    >
      {(deployment) => <Waiting org={org} deployment={deployment} isMine={isMine(deployment)} />}
    </Panel>
  )
}

/** Only what waits, in the list of deployments. */
const WAITING = { view: 'list', status: 'pending_approval' } as const

function Waiting({ org, deployment, isMine }: { org: string; deployment: Deployment; isMine: boolean }) {
  const { id, repository_full_name, environment, created_at, author } = deployment
  return (
    <>
      <div className={classes.name}>
        <Link {...pages.deployment(org, id)} size="sm" fw={500} truncate display="block">
          <bdi>{repository_full_name.split('/').at(-1)}</bdi> → <bdi>{environment}</bdi>
        </Link>
        <Text size="xs" c="dimmed" truncate>
          {isMine ? 'Asked' : `Waits for ${waitsFor(deployment)}, asked`} <Time at={created_at} />
          {author && (
            <>
              {' '}
              · <bdi>{author}</bdi>
            </>
          )}
        </Text>
      </div>
      {isMine && (
        <ButtonLink
          {...pages.deployment(org, id)}
          size="compact-sm"
          className={classes.aside}
          aria-label={`Review the deployment of ${repository_full_name} to ${environment}`}
        >
          Review
        </ButtonLink>
      )}
    </>
  )
}

function waitsFor({
  custom_rule_state,
  reviewers_state,
  required_reviewers,
  required_reviewer_teams,
}: Deployment): string {
  if (custom_rule_state === 'pending') return 'a release manager'
  const named = [...required_reviewers, ...required_reviewer_teams]
  if (reviewers_state === 'pending' && named.length > 0) return named.slice(0, 2).join(' or ')
  return 'reviewers on the code host'
}
