import { Anchor, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import type { Schema } from '../../api/client.ts'
import { explainTrust, PersonName, TrustBadge } from '../../page/badges.tsx'
import { CopyText } from '../../page/copy.tsx'
import { ExternalLink, Link } from '../../page/link.tsx'
import { formatCount } from '../../page/numbers.ts'
import { pages } from '../../page/pages.ts'
import { isWholeSha, RepositoryLink } from '../../page/repository.tsx'
import { Facts } from '../../page/sections.tsx'
import { TextBlock } from '../../page/text-block.tsx'
import { Time } from '../../page/time.tsx'
import { RunDuration } from '../facts/run-parts.tsx'
import { byKind, kindLook } from '../reports/attestation-view.tsx'
import type { Report } from '../reports/report-list.tsx'
import classes from './run-facts.module.css'

const SHA_SHOWN = 10

/** Code hosts as people write them. */
const PROVIDERS: Record<string, string> = {
  github: 'GitHub Actions',
  gitlab: 'GitLab CI/CD',
  bitbucket: 'Bitbucket Pipelines',
  azure: 'Azure Pipelines',
  other: 'Other',
}

const CATEGORIES: Record<string, string> = {
  test: 'Tests failed',
  build: 'The build failed',
  lint: 'A linter found problems',
  dependency: 'Dependencies could not be installed',
  timeout: 'A job took too long',
  infrastructure: 'The machine or the network failed',
  cancelled: 'It was cancelled',
  unknown: 'The cause is not known',
}

const NAMED_MAX = 8

type Run = Schema<'PipelineRun'>

type Attempt = Run['attempts'][number]

/** Where a run comes from, who started it, how far it can be trusted, and when it ran. */
export function RunFacts({ org, run, attempt }: { org: string; run: Run; attempt: Attempt }) {
  const { repository_full_name: repository, branch, commit_sha, workflow_name, run_number, release_name } = run
  const author = run.author_login
  const actor = attempt.triggered_by ?? run.actor_name ?? run.actor_login
  return (
    <Facts
      facts={[
        ['Repository', <RepositoryLink key="repository" name={repository} provider={run.provider} />],
        [
          'Branch',
          branch && (
            <Link {...pages.runs(org)} search={{ repository, branch }} size="sm">
              <bdi>{branch}</bdi>
            </Link>
          ),
        ],
        ['Commit', commit_sha && <CopyText text={commit_sha} of="commit SHA" shown={SHA_SHOWN} />],
        [
          'Change',
          commit_sha && isWholeSha(commit_sha) ? <ChangeLink key="change" org={org} commit={commit_sha} /> : null,
        ],
        ['Findings', <FindingsLink key="findings" org={org} run={run} />],
        ['Author', author && <PersonName name={author} />],
        ['Release', release_name && <bdi>{release_name}</bdi>],
        ['Workflow', <bdi key="workflow">{`${workflow_name}${run_number === null ? '' : ` #${run_number}`}`}</bdi>],
        ['Trigger', <Trigger key="trigger" trigger={run.trigger} />],
        ['Started by', actor && <PersonName name={actor} />],
        ['CI system', run.ci_system ?? PROVIDERS[run.provider] ?? run.provider],
        ['Started', <Time key="started" at={attempt.started_at} />],
        [
          'Duration',
          attempt.duration_seconds === null && attempt.status !== 'in_progress' ? null : (
            <RunDuration key="duration" {...attempt} />
          ),
        ],
        [
          'Trust',
          <Stack key="trust" gap={0} align="flex-start">
            <TrustBadge {...run} />
            <Text size="xs" c="dimmed">
              {explainTrust(run)}
            </Text>
          </Stack>,
        ],
        ['Stands beside', run.stands_beside && <BesideRun key="beside" org={org} id={run.stands_beside} />],
      ]}
    />
  )
}

function ChangeLink({ org, commit }: { org: string; commit: string }) {
  return (
    <Link {...pages.changes(org)} search={{ commit }} size="sm">
      Changes with this commit
    </Link>
  )
}

/** What is known of the branch. The reports of the run itself are at its artifacts. */
function FindingsLink({ org, run }: { org: string; run: Run }) {
  const { repository_full_name: repository, branch } = run
  return (
    <Link {...pages.findings(org)} search={{ repository, branch: branch ?? undefined }} size="sm">
      {branch === null ? 'Of the repository' : 'Of the branch'}
    </Link>
  )
}

/** Another run has the same number. */
function BesideRun({ org, id }: { org: string; id: string }) {
  return (
    <Stack gap={0} align="flex-start">
      <Link {...pages.run(org, id)} size="sm">
        <bdi>{id}</bdi>
      </Link>
      <Text size="xs" c="dimmed">
        Another kind of credential, or the code host, has reported this run under the same number. Neither changes the
        other.
      </Text>
    </Stack>
  )
}

function Trigger({ trigger: { event, pull_request, merged_pull_request } }: Pick<Run, 'trigger'>) {
  const [pull, words] = pull_request ? [pull_request, 'for'] : [merged_pull_request, 'of the merge of']
  return (
    <Group gap={4}>
      <bdi>{event.replaceAll('_', ' ')}</bdi>
      {pull && (
        <span>
          {words} <ExternalLink href={pull.url}>#{pull.number}</ExternalLink>
        </span>
      )}
    </Group>
  )
}

type RunFailureProps = {
  run: Pick<Schema<'PipelineRun'>, 'failure_category' | 'failure_excerpt' | 'failure_recurrence'>
  /** The reports of the attempt. */
  reports: Report[]
}

/** Why an attempt failed: the category, what failed in the reports, and the end of the log. */
export function RunFailure({ run, reports }: RunFailureProps) {
  const { failure_category: category, failure_excerpt: excerpt, failure_recurrence: recurrence } = run
  const failed = reports.flatMap((report) =>
    byKind(report.attestations)
      .filter(({ status }) => status === 'fail')
      .map((attestation) => ({ report, attestation })),
  )
  if (category === null && excerpt === null && failed.length === 0) return null
  return (
    <Paper component="section" aria-labelledby="run-failure" className={classes.failure}>
      <Stack gap="sm">
        <Group gap={8}>
          <IconAlertTriangle size={18} aria-hidden color="var(--shiplock-failure)" />
          <Title order={2} id="run-failure">
            {CATEGORIES[category ?? ''] ?? 'What failed'}
          </Title>
          {recurrence !== null && recurrence > 1 && (
            <Text span size="sm" c="dimmed">
              {formatCount(recurrence)} times in a row on this branch
            </Text>
          )}
        </Group>
        {failed.length > 0 && (
          <Stack gap={4} component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
            {failed.slice(0, NAMED_MAX).map(({ report, attestation: { id, kind, name } }) => (
              <Text key={id} size="sm" component="li" lineClamp={2}>
                <Anchor href={`#report-${report.id}`} size="sm" underline="always">
                  {kindLook(kind).label} <bdi>{name}</bdi>
                </Anchor>{' '}
                in <bdi>{report.job.name}</bdi>
              </Text>
            ))}
            {failed.length > NAMED_MAX && (
              <Text size="sm" c="dimmed" component="li">
                and {formatCount(failed.length - NAMED_MAX)} more
              </Text>
            )}
          </Stack>
        )}
        {excerpt && <TextBlock label="End of the log" text={excerpt} />}
      </Stack>
    </Paper>
  )
}
