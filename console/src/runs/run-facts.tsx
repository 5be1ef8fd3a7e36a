import { Group, Stack, Text } from '@mantine/core'
import type { Schema } from '../api/client.ts'
import { CopyText } from '../page/copy-text.tsx'
import { Facts } from '../page/facts.tsx'
import { ExternalLink, Link } from '../page/link.tsx'
import { pages } from '../page/pages.ts'
import { PersonName } from '../page/person.tsx'
import { Time } from '../page/time.tsx'
import { explainTrust, TrustBadge } from '../page/trust-badge.tsx'
import { RunDuration } from './run-duration.tsx'

type Run = Schema<'PipelineRun'>
type Attempt = Run['attempts'][number]

const SHA_SHOWN = 10

/** Where a run comes from, who started it, how far it can be trusted, and when it ran. */
export function RunFacts({ org, run, attempt }: { org: string; run: Run; attempt: Attempt }) {
  const { repository_full_name: repository, branch, commit_sha, workflow_name, run_number, release_name } = run
  const author = run.author_login
  const actor = attempt.triggered_by ?? run.actor_name ?? run.actor_login
  return (
    <Facts
      facts={[
        [
          'Repository',
          <Link key="repository" {...pages.runs(org)} search={{ repository }} size="sm">
            <bdi>{repository}</bdi>
          </Link>,
        ],
        [
          'Branch',
          branch && (
            <Link {...pages.runs(org)} search={{ repository, branch }} size="sm">
              <bdi>{branch}</bdi>
            </Link>
          ),
        ],
        ['Commit', commit_sha && <CopyText text={commit_sha} of="commit SHA" shown={SHA_SHOWN} />],
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
            <TrustBadge trust={run.trust} />
            <Text size="xs" c="dimmed">
              {explainTrust(run.trust)}
            </Text>
          </Stack>,
        ],
      ]}
    />
  )
}

/** Code hosts as people write them. */
const PROVIDERS: Record<string, string> = {
  github: 'GitHub Actions',
  gitlab: 'GitLab CI/CD',
  bitbucket: 'Bitbucket Pipelines',
  azure: 'Azure Pipelines',
  other: 'Other',
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
