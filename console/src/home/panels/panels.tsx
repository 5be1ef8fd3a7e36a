import { Alert, Group, List, Paper, Skeleton, Text, Title } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck, IconCircleDashed, IconFlame } from '@tabler/icons-react'
import { useQueries, useQuery } from '@tanstack/react-query'
import { type ReactNode, useId } from 'react'
import type { Schema } from '../../api/client.ts'
import { useOrganization, usePermission } from '../../api/session.ts'
import { canAnswer, namePermission, neededApproval } from '../../deployments/answers/answer-options.ts'
import { exposureQuery } from '../../inventory/facts/queries.ts'
import { SeverityBadge, ToneBadge } from '../../page/badges.tsx'
import { ButtonLink, Link } from '../../page/link.tsx'
import { formatCompact, formatCount } from '../../page/numbers.ts'
import { pages } from '../../page/pages.ts'
import { oneLine } from '../../page/reported-text.ts'
import { Problem } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { type IntelSource, useMissingIntel } from '../../security/facts/intel-notice.tsx'
import { gatesQuery } from '../../settings/gate/queries.ts'
import classes from '../facts/home.module.css'
import { URGENT_SHOWN, urgentQueries, waitingQuery } from '../facts/queries.ts'

const SHOWN = 5

/** Only what waits, in the list of deployments. */
const WAITING = { view: 'list', status: 'pending_approval' } as const

const OPEN = {
  critical: { severity: 'critical', status: 'open' },
  exploited: { kev: 'yes', status: 'open' },
} as const

type PanelProps<Item> = {
  title: string
  /** Undefined while they load. */
  items: readonly Item[] | undefined
  /** How many there are, where more exist than are shown. */
  count?: string | undefined
  error: unknown
  retry: () => void
  /** Shown when there is nothing. */
  empty: string
  /** Where nothing was looked at, there being nothing is no good news. */
  isUnknown?: boolean
  itemKey: (item: Item) => string
  children: (item: Item) => ReactNode
  /** A link to the whole list. */
  more: ReactNode
}

/** The newest things of a kind that need somebody. */
export function Panel<Item>({
  title,
  items,
  count,
  error,
  retry,
  empty,
  isUnknown,
  itemKey,
  children,
  more,
}: PanelProps<Item>) {
  const id = useId()
  return (
    <Paper component="section" aria-labelledby={id} className={classes.panel}>
      <Group gap={8} align="baseline" mb={4}>
        <Title order={2} id={id}>
          {title}
        </Title>
        {items !== undefined && items.length > 0 && (
          <Text span size="sm" c="dimmed">
            {count ?? formatCompact(items.length)}
          </Text>
        )}
      </Group>
      <PanelBody {...{ title, items, error, retry, empty, isUnknown, itemKey, children }} />
      <Group justify="flex-end" mt="auto">
        {more}
      </Group>
    </Paper>
  )
}

type PanelBodyProps<Item> = Omit<PanelProps<Item>, 'more' | 'count'>

function PanelBody<Item>({
  title,
  items,
  error,
  retry,
  empty,
  isUnknown = false,
  itemKey,
  children,
}: PanelBodyProps<Item>) {
  if (items === undefined)
    return error ? (
      <Problem error={error} title={`“${title}” could not be loaded`} retry={retry} />
    ) : (
      <div aria-busy className={classes.items}>
        {Array.from({ length: 4 }, (_, line) => (
          <Skeleton key={line} height={24} my={8} />
        ))}
      </div>
    )
  if (items.length === 0)
    return (
      <Group gap={8} c="dimmed" wrap="nowrap" flex={1} justify="center">
        {isUnknown ? <IconCircleDashed size={18} aria-hidden /> : <IconCircleCheck size={18} aria-hidden />}
        <Text size="sm">{empty}</Text>
      </Group>
    )
  return (
    <ul className={classes.items}>
      {items.map((item) => (
        <li key={itemKey(item)} className={classes.item}>
          {children(item)}
        </li>
      ))}
    </ul>
  )
}

/** Gates that wait for people since an upgrade, or that nobody can answer, for those who can change them. */
export function GatesToCheck({ org }: { org: string }) {
  const query = useQuery({ ...gatesQuery(org), enabled: usePermission('manage_gates') })
  const gates = query.data?.data.filter(({ problems }) => problems.length > 0) ?? []
  if (gates.length === 0) return null
  return (
    <Alert color="yellow" icon={<IconAlertTriangle />} title="Gates to check">
      <List size="sm">
        {gates.slice(0, SHOWN).map(({ id, name, problems }) => (
          <List.Item key={id}>
            <Link {...pages.gate(org, id)} size="sm">
              {name}
            </Link>{' '}
            {problems.join(', and ')}.
          </List.Item>
        ))}
        {gates.length > SHOWN && (
          <List.Item>
            <Link {...pages.gates(org)} size="sm">
              {formatCount(gates.length - SHOWN)} more
            </Link>
          </List.Item>
        )}
      </List>
    </Alert>
  )
}

type Deployment = Schema<'Deployment'>

/** Deployments that wait: first those that the reader can answer, the longest waiting first. */
export function WaitingPanel({ org }: { org: string }) {
  const { permissions } = useOrganization()
  const answers = canAnswer('approve', permissions) || canAnswer('override', permissions)
  const query = useQuery(waitingQuery(org))
  const isMine = (deployment: Deployment) => {
    const approval = neededApproval(deployment)
    return approval !== null && canAnswer(approval, permissions)
  }
  const waiting = query.data?.data.toSorted(
    (a, b) => Number(isMine(b)) - Number(isMine(a)) || a.created_at.localeCompare(b.created_at),
  )
  const mine = waiting?.filter(isMine).length ?? 0
  const total = `${formatCount(waiting?.length ?? 0)}${query.data?.next_cursor ? '+' : ''}`
  return (
    <Panel
      title={answers ? 'Waiting for you' : 'Waiting for approval'}
      items={waiting?.slice(0, SHOWN)}
      count={answers && String(mine) !== total ? `${formatCount(mine)} of ${total}` : total}
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

function Waiting({ org, deployment, isMine }: { org: string; deployment: Deployment; isMine: boolean }) {
  const { id, repository_full_name, environment, created_at, author } = deployment
  return (
    <>
      <div className={classes.name}>
        <Link {...pages.deployment(org, id)} size="sm" fw={500} truncate display="block">
          <bdi>{repository_full_name.split('/').at(-1)}</bdi> → <bdi>{environment}</bdi>
        </Link>
        <Text size="xs" c="dimmed" className={classes.about}>
          {describeWaiting(deployment, isMine)} <Time at={created_at} />
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

/** What holds the deployment, and who can let it go on. The time of its creation follows. */
function describeWaiting(deployment: Deployment, isMine: boolean): string {
  const blocking = deployment.policy_evaluation?.policies.filter(({ decision }) => decision === 'block') ?? []
  const who = isMine ? '' : `Waits for ${waitsFor(deployment)}, `
  if (neededApproval(deployment) !== 'override') return who === '' ? 'Asked' : `${who}asked`
  const more = blocking.length > 1 ? ` and ${formatCount(blocking.length - 1)} more` : ''
  return `Blocked by ${blocking[0]?.name ?? 'a policy'}${more}. ${who === '' ? 'Asked' : `${who}asked`}`
}

function waitsFor(deployment: Deployment): string {
  const { reviewers_state, required_reviewers, required_reviewer_teams } = deployment
  const approval = neededApproval(deployment)
  if (approval !== null) return `somebody with “${namePermission(approval)}”`
  const named = [...required_reviewers, ...required_reviewer_teams]
  if (reviewers_state === 'pending' && named.length > 0) return named.slice(0, 2).join(' or ')
  return reviewers_state === 'pending' ? 'reviewers on the code host' : 'the code host'
}

type Issue = Schema<'Issue'>

/** The open issues that are critical or known to be exploited, by risk. */
export function UrgentPanel({ org, isUnknown }: { org: string; isUnknown: boolean }) {
  const missing = useMissingIntel()
  const queries = urgentQueries(org)
  const critical = useQuery(queries.critical)
  const exploited = useQuery(queries.exploited)
  const live = useLiveExploited(org, exploited.data?.data ?? [])
  const items = critical.data && exploited.data && worstOf([...critical.data.data, ...exploited.data.data], live)
  return (
    <Panel
      title="Critical and exploited"
      items={items?.slice(0, URGENT_SHOWN)}
      count={urgentCount(critical.data, exploited.data, items)}
      error={critical.error ?? exploited.error}
      retry={() => {
        void critical.refetch()
        void exploited.refetch()
      }}
      empty={describeCalm(isUnknown, missing)}
      isUnknown={isUnknown}
      itemKey={({ id }) => id}
      more={
        <Group gap="md">
          <Link {...pages.issues(org)} search={OPEN.exploited} size="sm">
            Exploited
          </Link>
          <Link {...pages.issues(org)} search={OPEN.critical} size="sm">
            All critical issues
          </Link>
        </Group>
      }
    >
      {(issue) => <UrgentIssue org={org} issue={issue} isLive={live.has(issue.id)} />}
    </Panel>
  )
}

function describeCalm(isUnknown: boolean, missing: IntelSource[] | undefined): string {
  if (isUnknown) return 'No report was uploaded yet.'
  if (missing?.includes('kev') === false) return 'No critical or known exploited issue is open.'
  return 'No critical issue is open.'
}

type Read = { next_cursor: string | null }

function urgentCount(critical: Read | undefined, exploited: Read | undefined, items: readonly Issue[] | undefined) {
  const hasMore = critical?.next_cursor || exploited?.next_cursor
  return items && `${formatCount(items.length)}${hasMore ? '+' : ''}`
}

const RANKS = ['critical', 'high', 'medium', 'low', 'info']

/** Of so many exploited vulnerabilities it is asked where they run. */
const EXPOSED_MAX = 10

/** The exploited issues of which an affected deployment is known to run. */
function useLiveExploited(org: string, issues: readonly Issue[]): ReadonlySet<string> {
  const ids = [...new Set(issues.flatMap(({ intel, vuln_ids }) => intel.canonical_id ?? vuln_ids[0] ?? []))]
  const answers = useQueries({ queries: ids.slice(0, EXPOSED_MAX).map((id) => exposureQuery(org, id)) })
  return new Set(answers.flatMap(({ data }) => data?.data.affected.flatMap(({ issue_id }) => issue_id ?? []) ?? []))
}

/** What is exploited and runs first, then other exploited ones, then by severity and age, the oldest first. */
function worstOf(issues: readonly Issue[], live: ReadonlySet<string>): Issue[] {
  const byId = new Map(issues.map((issue) => [issue.id, issue]))
  return [...byId.values()].sort(
    (a, b) =>
      Number(live.has(b.id)) - Number(live.has(a.id)) ||
      Number(b.intel.kev !== null) - Number(a.intel.kev !== null) ||
      RANKS.indexOf(a.severity) - RANKS.indexOf(b.severity) ||
      a.first_seen_at.localeCompare(b.first_seen_at),
  )
}

function UrgentIssue({ org, issue, isLive }: { org: string; issue: Issue; isLive: boolean }) {
  const { id, title, repository, first_seen_at, severity, intel, vuln_ids } = issue
  const vulnerability = intel.canonical_id ?? vuln_ids[0]
  return (
    <>
      <div className={classes.name}>
        <Link {...pages.issue(org, id)} size="sm" fw={500} truncate display="block" title={title}>
          <bdi>{title}</bdi>
        </Link>
        <Text size="xs" c="dimmed" className={classes.about}>
          {vulnerability && (
            <>
              <Link {...pages.vulnerability(org, vulnerability)} size="xs" underline="always">
                {oneLine(vulnerability, 60)}
              </Link>
              {' · '}
            </>
          )}
          <bdi>{repository}</bdi> · first seen <Time at={first_seen_at} />
        </Text>
      </div>
      <span className={classes.aside}>
        {intel.kev ? (
          <ToneBadge tone="critical" icon={IconFlame}>
            {isLive ? 'Exploited, live' : 'Exploited'}
          </ToneBadge>
        ) : (
          <SeverityBadge severity={severity} />
        )}
      </span>
    </>
  )
}
