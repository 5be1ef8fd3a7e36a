import { Button, Grid, Group, Stack, Text } from '@mantine/core'
import { IconArrowMerge } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { asApiError } from '../../api/api-error.ts'
import { api } from '../../api/client.ts'
import { type CursorList, useCursorList } from '../../list/list-page.ts'
import { SeverityBadge, StatusBadge } from '../../page/badges.tsx'
import { ClampedText } from '../../page/clamped-text.tsx'
import { ButtonLink, Link } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { QueryView } from '../../page/query-view.tsx'
import { oneLine } from '../../page/reported-text.ts'
import { Section } from '../../page/section.tsx'
import { Empty } from '../../page/states.tsx'
import { KIND_NAMES } from '../facts/names.ts'
import { Vulnerability } from '../facts/vulnerability.tsx'
import type { Finding } from '../findings/finding-search.ts'
import type { Issue } from '../issues/issue-search.ts'
import { issueFindingsQuery, issueQuery } from '../routes.ts'
import { DismissalNote } from '../triage/dismissal-note.tsx'
import { issueTarget } from '../triage/targets.ts'
import { TriageButtons } from '../triage/triage-buttons.tsx'
import { useTriage } from '../triage/use-triage.tsx'
import { ExportVex } from '../vex/export-vex.tsx'
import { Grouping } from './grouping.tsx'
import { IssueFacts } from './issue-facts.tsx'
import { IssueFindings } from './issue-findings.tsx'
import { IssueHistory } from './issue-history.tsx'
import { MergeDialog } from './merge-dialog.tsx'
import { SplitDialog } from './split-dialog.tsx'

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
