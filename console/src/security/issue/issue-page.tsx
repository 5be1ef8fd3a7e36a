import { Button, Grid, Group, Stack, Text } from '@mantine/core'
import { IconArrowMerge } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { asApiError } from '../../api/api-error.ts'
import { api, type Schema } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { type CursorList, useCursorList } from '../../list/list-page.ts'
import { SeverityBadge, StatusBadge } from '../../page/badges.tsx'
import { ButtonLink, Link } from '../../page/link.tsx'
import { formatCount } from '../../page/numbers.ts'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { oneLine } from '../../page/reported-text.ts'
import { CommitLink, isWholeSha, RepositoryLink } from '../../page/repository.tsx'
import { Facts, Section } from '../../page/sections.tsx'
import { Empty, LineSkeleton, QueryView } from '../../page/states.tsx'
import { ClampedText } from '../../page/text-block.tsx'
import { Time } from '../../page/time.tsx'
import { MergeDialog } from '../edit-issue/merge-dialog.tsx'
import { SplitDialog } from '../edit-issue/split-dialog.tsx'
import { CodePlace } from '../facts/code-place.tsx'
import { KIND_NAMES, nameOfSource } from '../facts/names.ts'
import { issueFindingsQuery, issueQuery } from '../facts/queries.ts'
import type { Finding, Issue } from '../facts/searches.ts'
import { Vulnerability } from '../facts/vulnerability.tsx'
import { ExportVex } from '../issues/export-vex.tsx'
import { uploadQuery } from '../sending/queries.ts'
import { issueTarget } from '../triage/targets.ts'
import { DismissalNote, EndedDismissalNote } from '../triage/triage-list.tsx'
import { TriageButtons, useTriage } from '../triage/use-triage.tsx'
import { Grouping, IssueFindings } from './issue-findings.tsx'
import { IssueHistory } from './issue-history.tsx'

const route = getRouteApi('/signed-in/orgs/$org/security/issues/$id')

/** One issue: what it is, how bad it is, why its findings are one, and what was decided. */
export function IssuePage() {
  const { org, id } = route.useParams()
  const query = useQuery(issueQuery(org, id))
  const issue = query.data?.data
  const isGone = issue === undefined && asApiError(query.error)?.status === 404
  return (
    <Page
      title={issue ? oneLine(issue.title, 200) || 'Issue' : 'Issue'}
      heading={issue && <bdi>{oneLine(issue.title, 300) || 'Untitled issue'}</bdi>}
      breadcrumbs={
        <Link {...pages.issues(org)} size="sm">
          Issues
        </Link>
      }
      actions={issue && <IssueActions issue={issue} />}
    >
      {isGone ? (
        <GoneIssue org={org} id={id} error={query.error} />
      ) : (
        <QueryView query={query} of="issue">
          {({ data }) => <IssueView issue={data} org={org} />}
        </QueryView>
      )}
    </Page>
  )
}

function IssueActions({ issue }: { issue: Issue }) {
  const triage = useTriage()
  const [dialog, setDialog] = useState<'split' | 'merge' | null>(null)
  const close = () => setDialog(null)
  return (
    <>
      <TriageButtons triage={triage} type="issue" target={issueTarget(issue)} />
      {triage.isAllowed && (
        <>
          {issue.member_count > 1 && (
            <Button variant="default" onClick={() => setDialog('split')}>
              Split
            </Button>
          )}
          <Button variant="default" onClick={() => setDialog('merge')}>
            Merge
          </Button>
          <SplitDialog issue={issue} opened={dialog === 'split'} onClose={close} />
          <MergeDialog issue={issue} opened={dialog === 'merge'} onClose={close} />
        </>
      )}
      <ExportVex repository={{ name: issue.repository, provider: issue.provider }} />
    </>
  )
}

function IssueView({ issue, org }: { issue: Issue; org: string }) {
  const { id, severity, status, kind, description, intel, vuln_ids, cwes } = issue
  const findings = useCursorList(issueFindingsQuery(org, id))
  return (
    <Stack gap="lg">
      <Group gap="xs">
        <SeverityBadge severity={severity} />
        <StatusBadge status={status} />
        <Text size="sm" c="dimmed">
          {KIND_NAMES[kind]} · {oneLine(issue.repository, 150)}
        </Text>
      </Group>
      {status === 'dismissed' && <DismissalNote dismissed={issue} />}
      <EndedDismissalNote ended={issue.dismissal_ended} />
      <Grid gap="xl">
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Stack gap="xl">
            {description && description.trim() !== issue.title.trim() && (
              <ClampedText text={description} of="description" />
            )}
            <IssueFindings issue={issue} findings={findings} />
            <Grouping issueId={id} />
            <Section title="History">
              <IssueHistory issue={issue} />
            </Section>
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Stack gap="xl">
            <IssueFacts issue={issue} lead={findings.rows?.[0]} />
            <Vulnerability
              intel={intel}
              vulnIds={vuln_ids}
              cwes={cwes}
              fixedVersions={fixedVersionsOf(findings)}
              earlier={scoresOf(findings)}
            />
          </Stack>
        </Grid.Col>
      </Grid>
    </Stack>
  )
}

function fixedVersionsOf({ rows = [] }: CursorList<Finding>): string[] {
  return [...new Set(rows.flatMap(({ fixed_version }) => fixed_version ?? []))].slice(0, 5)
}

function scoresOf({ rows = [] }: CursorList<Finding>) {
  return rows.flatMap(({ intel_at_detection: { epss } }) =>
    epss === null || epss.score === null || epss.date === null ? [] : [{ date: epss.date, score: epss.score }],
  )
}

/** An issue without findings was merged into another one, or never existed. */
function GoneIssue({ org, id, error }: { org: string; id: string; error: unknown }) {
  const path = '/app/api/orgs/{org}/security/issues/{id}/explain'
  const query = api.useQuery('get', path, { params: { path: { org, id } } }, { retry: false })
  const other = query.data?.data.merged_into
  if (!other)
    return (
      <QueryView query={{ ...query, data: undefined, error: query.error ?? error } as typeof query} of="issue">
        {() => null}
      </QueryView>
    )
  return (
    <Empty
      icon={IconArrowMerge}
      title="This issue was merged"
      actions={
        <ButtonLink {...pages.issue(org, other)} variant="filled">
          Open the other issue
        </ButtonLink>
      }
    >
      All of its findings belong to another issue now.
    </Empty>
  )
}

type IssueFactsProps = {
  issue: Issue
  /** A finding of the issue, which tells the commit. */
  lead: Schema<'Finding'> | undefined
}

/** Where the problem is, and who reports it. */
function IssueFacts({ issue, lead }: IssueFactsProps) {
  const { slug: org } = useOrganization()
  const { location, repository, provider, package_name, purl, resource_name, sources, split_from } = issue
  const place = { ...issue, commit_sha: lead?.commit_sha ?? null, git_ref: lead?.git_ref ?? null }
  return (
    <Section title="Details">
      {location && <CodePlace finding={place} />}
      <Facts
        facts={[
          ['Repository', <RepositoryLink key="repository" name={repository} provider={provider} />],
          ['Package', package_name && oneLine(`${package_name} ${issue.package_version ?? ''}`, 200)],
          ['Package URL', purl && <PackageLink org={org} purl={purl} />],
          ['Resource', resource_name && oneLine(resource_name, 200)],
          ['Commit', lead?.commit_sha ? <CommitLink key="commit" {...issue} sha={lead.commit_sha} /> : null],
          ['Run', lead?.upload_id ? <SendingRun key="run" org={org} uploadId={lead.upload_id} /> : null],
          [
            'Deployments',
            lead?.commit_sha ? <DeploymentsOfCommit key="deployments" org={org} commit={lead.commit_sha} /> : null,
          ],
          ['Scanners', <Sources key="sources" sources={sources} />],
          ['First seen', <Time key="first" at={issue.first_seen_at} />],
          ['Last seen', <Time key="last" at={issue.last_seen_at} />],
          ['Split from', split_from && <IssueLinkById org={org} id={split_from} />],
        ]}
      />
    </Section>
  )
}

/** Where the package is, if a bill of materials has it. */
function PackageLink({ org, purl }: { org: string; purl: string }) {
  return (
    <Link {...pages.components(org)} search={{ purl, present: 'any' }} size="sm">
      <code>{oneLine(purl, 250)}</code>
    </Link>
  )
}

/** The run whose job sent the newest report of the worst finding. */
function SendingRun({ org, uploadId }: { org: string; uploadId: string }) {
  const { data } = useQuery(uploadQuery(org, uploadId))
  if (!data) return <LineSkeleton lines={1} />
  const { run_id, artifact_id } = data.data
  if (run_id === null)
    return (
      <Link {...pages.upload(org, uploadId)} size="sm">
        None: the report was uploaded
      </Link>
    )
  return (
    <Link {...pages.run(org, run_id)} search={{ artifact: artifact_id ?? undefined }} size="sm">
      Open the run
    </Link>
  )
}

function DeploymentsOfCommit({ org, commit }: { org: string; commit: string }) {
  if (!isWholeSha(commit)) return 'Not known: the report names no whole commit'
  return (
    <Link {...pages.deployments(org)} search={{ view: 'list', commit }} size="sm">
      Deployments of this commit
    </Link>
  )
}

function Sources({ sources }: { sources: Issue['sources'] }) {
  return (
    <Stack gap={0}>
      {sources.slice(0, 10).map(({ source, scanner, count, open }) => (
        <span key={`${source} ${scanner}`}>
          {oneLine(scanner, 80)} ({nameOfSource(source)}): {formatCount(open)} of {formatCount(count)} open
        </span>
      ))}
    </Stack>
  )
}

function IssueLinkById({ org, id }: { org: string; id: string }) {
  return (
    <Link {...pages.issue(org, id)} size="sm">
      Another issue
    </Link>
  )
}
