import { Group, Select, Skeleton, Stack } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Schema } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { useWholeCursorList } from '../../list/list-page.ts'
import { StatusBadge, statusLook } from '../../page/badges.tsx'
import { ExternalButton, Link } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { titleOf } from '../../page/reported-text.ts'
import { Problem, QueryView } from '../../page/states.tsx'
import { formatTime } from '../../page/time.tsx'
import { artifactsQuery, reportsQuery, runQuery } from '../facts/queries.ts'
import { AnomalyBadges } from '../facts/run-parts.tsx'
import { ReportList } from '../reports/report-list.tsx'
import { RunArtifacts, RunDeployments } from './run-artifacts.tsx'
import { RunFacts, RunFailure } from './run-facts.tsx'
import { RunJobs } from './run-jobs.tsx'
import { RunSboms } from './run-sboms.tsx'

const route = getRouteApi('/signed-in/orgs/$org/runs/$id')
const TITLE_MAX = 300

/** What is known of failures is known of the newest attempt. */
const UNKNOWN_FAILURE = { failure_category: null, failure_excerpt: null, failure_recurrence: null }

type Run = Schema<'PipelineRun'>

/** One run: where it comes from, why it failed, its jobs, and what they have reported. */
export function RunPage() {
  const { slug: org } = useOrganization()
  const { id } = route.useParams()
  const query = useQuery(runQuery(org, id))
  if (query.data) return <LoadedRun org={org} run={query.data.data} />
  return (
    <Page title="Run" breadcrumbs={<AllRuns org={org} />}>
      <QueryView query={query} of="run" skeleton={<RunSkeleton />}>
        {() => null}
      </QueryView>
    </Page>
  )
}

function LoadedRun({ org, run }: { org: string; run: Run }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const reports = useWholeCursorList(reportsQuery(org, run.id))
  const artifacts = useWholeCursorList(artifactsQuery(org, run.id))
  const sought = artifacts.rows?.find(({ id }) => id === search.artifact)?.report_id ?? search.report
  const named = reports.rows?.find((report) => report.id === sought)
  const attempt = chosenAttempt(run, search.attempt ?? named?.attempt)
  const isNewest = attempt.number === run.run_attempt
  const reportsOfAttempt = useMemo(
    () => reports.rows?.filter((report) => report.attempt === attempt.number),
    [reports.rows, attempt.number],
  )
  const ids = new Set(reportsOfAttempt?.map((report) => report.id))
  const title = titleOf(run)
  return (
    <Page
      title={title}
      heading={
        <Group gap={10} component="span" style={{ rowGap: 4 }}>
          <bdi>{title.slice(0, TITLE_MAX)}</bdi>
          <StatusBadge status={attempt.status} />
          <AnomalyBadges reasons={run.anomaly_reasons} />
        </Group>
      }
      breadcrumbs={<AllRuns org={org} />}
      actions={
        <>
          <AttemptChoice
            attempts={run.attempts}
            value={attempt.number}
            onChange={(number) =>
              void navigate({ search: { attempt: number === run.run_attempt ? undefined : number } })
            }
          />
          <ExternalButton href={run.html_url} icon={IconExternalLink}>
            Open in CI
          </ExternalButton>
        </>
      }
    >
      <RunFacts org={org} run={run} attempt={attempt} />
      {isFailed(attempt.status) && (
        <RunFailure run={isNewest ? run : UNKNOWN_FAILURE} reports={reportsOfAttempt ?? []} />
      )}
      {reports.rows === undefined && reports.error ? (
        <Problem error={reports.error} title="The reports could not be loaded" retry={reports.refresh} />
      ) : reportsOfAttempt === undefined ? (
        <Skeleton height={180} />
      ) : (
        <>
          <RunJobs
            org={org}
            runId={run.id}
            attempt={attempt.number}
            dependencies={run.job_dependencies}
            reports={reportsOfAttempt}
          />
          <ReportList key={attempt.number} org={org} reports={reportsOfAttempt} named={sought} />
        </>
      )}
      {artifacts.rows === undefined && artifacts.error ? (
        <Problem error={artifacts.error} title="The artifacts could not be loaded" retry={artifacts.refresh} />
      ) : (
        <RunArtifacts
          org={org}
          runId={run.id}
          artifacts={artifacts.rows?.filter(({ report_id }) => ids.has(report_id)) ?? []}
        />
      )}
      <RunSboms org={org} runId={run.id} repository={run.repository_full_name} />
      <RunDeployments org={org} runId={run.id} />
    </Page>
  )
}

function chosenAttempt({ attempts, run_attempt }: Run, number = run_attempt): Run['attempts'][number] {
  const found = attempts.find((attempt) => attempt.number === number)
  return (found ?? attempts.at(-1)) as Run['attempts'][number]
}

function isFailed(status: Run['status']): boolean {
  return status === 'failure' || status === 'timed_out' || status === 'cancelled'
}

function AllRuns({ org }: { org: string }) {
  return (
    <Link {...pages.runs(org)} size="sm">
      Runs
    </Link>
  )
}

function RunSkeleton() {
  return (
    <Stack gap="lg" aria-hidden>
      <Skeleton height={110} />
      <Skeleton height={180} />
      <Skeleton height={240} />
    </Stack>
  )
}

type AttemptChoiceProps = {
  attempts: Schema<'PipelineRun'>['attempts']
  value: number
  onChange: (number: number) => void
}

/** Chooses the attempt that the page shows. Nothing if there is only one. */
function AttemptChoice({ attempts, value, onChange }: AttemptChoiceProps) {
  if (attempts.length < 2) return null
  return (
    <Select
      aria-label="Attempt"
      w={{ base: 300, sm: 340 }}
      allowDeselect={false}
      data={attempts.toReversed().map(({ number, status, started_at }) => ({
        value: String(number),
        label: `Attempt ${number} · ${statusLook(status).label} · ${formatTime(started_at)}`,
      }))}
      value={String(value)}
      onChange={(chosen) => chosen && onChange(Number(chosen))}
    />
  )
}
