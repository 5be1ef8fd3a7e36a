import { Alert, Button, Code, Group, List, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ConfirmForm, Dialog, useDialog } from '../../actions/dialog.tsx'
import { notifyDone } from '../../actions/notify.tsx'
import { useOrganization, usePermission } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { SeverityBadge, StatusBadge } from '../../page/badges.tsx'
import { Link } from '../../page/link.tsx'
import { PROVIDER_NAMES } from '../../page/names.ts'
import { formatCount, formatSize } from '../../page/numbers.ts'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { CommitLink, RepositoryLink } from '../../page/repository.tsx'
import { Facts, Section } from '../../page/sections.tsx'
import { QueryView } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { DownloadButton, findingsSearch, issuesSearch } from '../sending/download-button.tsx'
import { uploadQuery } from '../sending/queries.ts'
import type { SecurityUpload } from '../sending/upload-item.ts'
import { FORMAT_NAMES, LANE_NAMES, ORIGIN_NAMES } from '../sending/upload-words.ts'

const route = getRouteApi('/signed-in/orgs/$org/security/uploads/$id')
const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const

/** One upload: what it is, what it changed, and what could not be read. */
export function UploadPage() {
  const { slug: org } = useOrganization()
  const { id } = route.useParams()
  const query = useQuery(uploadQuery(org, id))
  const upload = query.data?.data
  return (
    <Page
      title={upload?.filename ?? 'Upload'}
      heading={<bdi>{upload?.filename ?? 'Upload'}</bdi>}
      breadcrumbs={
        <Link {...pages.uploads(org)} size="sm">
          Uploads
        </Link>
      }
      actions={upload && hasFile(upload) && <DownloadButton org={org} upload={upload} />}
    >
      <QueryView query={query} of="upload">
        {({ data }) => <Upload org={org} upload={data} />}
      </QueryView>
    </Page>
  )
}

function Upload({ org, upload }: { org: string; upload: SecurityUpload }) {
  const { status, error, warnings, truncated } = upload
  return (
    <Stack gap="lg">
      <div role="status">
        <StatusBadge status={status} />
      </div>
      {error && (
        <Alert color="red" variant="light" icon={<IconAlertTriangle />} title="The report could not be read">
          <Text size="sm">{error}</Text>
          <Text size="sm" mt={4}>
            Nothing was changed. <Link {...pages.uploads(org)}>Upload it again</Link> when it is corrected.
          </Text>
        </Alert>
      )}
      {truncated && (
        <Alert color="yellow" variant="light" icon={<IconAlertTriangle />} title="Not all findings are stored">
          The report has more than 100,000 findings. Only the first 100,000 are stored.
        </Alert>
      )}
      {upload.awaits_confirmation && <Proposal org={org} upload={upload} />}
      <Held org={org} upload={upload} />
      <UploadCounts org={org} upload={upload} />
      <SimpleGrid cols={{ base: 1, md: warnings.length > 0 ? 2 : 1 }}>
        <UploadFacts upload={upload} />
        {warnings.length > 0 && (
          <Paper p="md" component="section" aria-labelledby="warnings">
            <Title order={2} id="warnings" mb="sm">
              Warnings
            </Title>
            <List
              size="sm"
              spacing="xs"
              icon={<IconAlertTriangle size={16} color="var(--shiplock-medium)" aria-hidden />}
            >
              {warnings.map((warning) => (
                <List.Item key={warning}>{warning}</List.Item>
              ))}
            </List>
          </Paper>
        )}
      </SimpleGrid>
      <Senders lanes={upload.lanes} />
    </Stack>
  )
}

/** A VEX document that changes nothing until somebody with the permission confirms it. */
function Proposal({ org, upload: { id, filename } }: { org: string; upload: SecurityUpload }) {
  const mayTriage = usePermission('triage')
  const confirm = useApiMutation('post', '/app/api/orgs/{org}/security/uploads/{uploadId}/confirm', [
    'security_upload',
    'issue',
  ])
  const dialog = useDialog<true>()
  const send = async () => {
    await confirm.mutateAsync({ params: { path: { org, uploadId: id } } })
    notifyDone(`${filename} is in effect`)
  }
  return (
    <Alert color="yellow" variant="light" icon={<IconAlertTriangle />} title="This VEX document is a proposal">
      <Text size="sm">
        Its sender may not triage, so it changes nothing until somebody with the permission Triage confirms it, other
        than its sender.
      </Text>
      {mayTriage && (
        <Button size="xs" mt="sm" onClick={() => dialog.open(true)} aria-haspopup="dialog">
          Confirm
        </Button>
      )}
      <Dialog dialog={dialog} title={`Confirm ${filename}`}>
        {() => (
          <ConfirmForm confirmLabel="Confirm" send={send} onClose={dialog.close}>
            Its statements come into effect in the name of its sender and yours: findings that it states to be not
            affected or fixed are dismissed. Read the file first.
          </ConfirmForm>
        )}
      </Dialog>
    </Alert>
  )
}

/** The findings that a report may lack because it is incomplete, and whoever may triage confirms it. */
function Held({ org, upload: { id, filename, held } }: { org: string; upload: SecurityUpload }) {
  const mayTriage = usePermission('triage')
  const confirm = useApiMutation('post', '/app/api/orgs/{org}/security/uploads/{uploadId}/confirm', ['security_upload'])
  const dialog = useDialog<true>()
  if (held === null || held.findings === 0) return null
  const findings = held.findings === 1 ? '1 finding stays' : `${formatCount(held.findings)} findings stay`
  return (
    <Alert color="yellow" variant="light" icon={<IconAlertTriangle />} title={`${findings} open`}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          The report does not have them, and may be incomplete. They close if somebody confirms the report, or if the
          next one does not have them either.
        </Text>
        <List size="sm">
          {held.reasons.map((reason) => (
            <List.Item key={reason}>{reason}</List.Item>
          ))}
        </List>
        {mayTriage && (
          <Button size="xs" variant="default" onClick={() => dialog.open(true)} aria-haspopup="dialog">
            Confirm the report
          </Button>
        )}
      </Stack>
      <Dialog dialog={dialog} title={`Confirm ${filename}`}>
        {() => (
          <ConfirmForm
            confirmLabel="Confirm"
            send={() => confirm.mutateAsync({ params: { path: { org, uploadId: id } } })}
            onClose={dialog.close}
          >
            The report is read again as a complete one: the {formatCount(held.findings)} open findings that it does not
            have are fixed. A report that is cut cannot be confirmed.
          </ConfirmForm>
        )}
      </Dialog>
    </Alert>
  )
}

/** Who sent the same file, each with findings of its own. */
function Senders({ lanes }: Pick<SecurityUpload, 'lanes'>) {
  if (lanes.length < 2) return null
  return (
    <Section title="Sent more than once">
      <Text size="sm" c="dimmed" mb="xs">
        The findings of each sender are kept apart: a report of one closes none of another.
      </Text>
      <List size="sm" spacing="xs">
        {lanes.map(({ trust, commit_sha, tracked, reported_at }) => (
          <List.Item key={trust}>
            {LANE_NAMES[trust]}, <Time at={reported_at} />
            {commit_sha && (
              <>
                , for commit <Code>{commit_sha.slice(0, 7)}</Code>
              </>
            )}
            {!tracked && ', opens no issues'}
          </List.Item>
        ))}
      </List>
    </Section>
  )
}

function hasFile({ status }: SecurityUpload): boolean {
  return status !== 'failed' && status !== 'pending'
}

/** What the report contains, and what it changed. */
function UploadCounts({ org, upload }: { org: string; upload: SecurityUpload }) {
  const { counts, status } = upload
  if (status === 'failed' || status === 'pending') return null
  const isRead = status === 'finished'
  const figures: [label: string, count: number, isKnown: boolean][] = [
    ['Findings', counts.findings, true],
    ['New', counts.created, isRead],
    ['Changed', counts.updated, isRead],
    ['Unchanged', counts.unchanged, isRead],
    ['Fixed', counts.resolved, isRead],
    ['New issues', counts.newIssues, isRead],
    ...(counts.components > 0 ? ([['Components', counts.components, isRead]] as [string, number, boolean][]) : []),
  ]
  return (
    <Paper p="md" component="section" aria-labelledby="result">
      <Group justify="space-between" mb="sm">
        <Title order={2} id="result">
          {isRead ? 'Result' : 'Reading'}
        </Title>
        <Group gap="sm">
          <Link {...pages.findings(org)} search={findingsSearch(upload)} size="sm">
            Findings of this branch
          </Link>
          <Link {...pages.issues(org)} search={issuesSearch(upload)} size="sm">
            Issues of this repository
          </Link>
        </Group>
      </Group>
      <SimpleGrid cols={{ base: 2, xs: 3, md: figures.length }} component="dl" m={0}>
        {figures.map(([label, count, isKnown]) => (
          <div key={label}>
            <Text component="dt" size="xs" c="dimmed">
              {label}
            </Text>
            <Text component="dd" m={0} fz="1.25rem" fw={600} style={{ fontVariantNumeric: 'tabular-nums' }}>
              {isKnown ? formatCount(count) : '—'}
            </Text>
          </div>
        ))}
      </SimpleGrid>
      {isRead && (
        <Group gap="sm" mt="md">
          <Text size="sm" c="dimmed">
            Open on this branch afterwards:
          </Text>
          {SEVERITIES.map((severity) => (
            <Group key={severity} gap={4}>
              <SeverityBadge severity={severity} />
              <Text size="sm">{formatCount(counts.openBySeverity[severity])}</Text>
            </Group>
          ))}
        </Group>
      )}
    </Paper>
  )
}

function ReportedRepository({ upload: { repository, provider } }: { upload: SecurityUpload }) {
  return (
    <>
      <RepositoryLink name={repository} provider={provider} />
      {provider && ` on ${PROVIDER_NAMES[provider]}`}
    </>
  )
}

/** The run whose job sent the file, at its artifact. */
function RunLink({ org, id, artifact }: { org: string; id: string; artifact: string | null }) {
  return (
    <Link {...pages.run(org, id)} search={{ artifact: artifact ?? undefined }} size="sm">
      Open the run
    </Link>
  )
}

/** The fields of an upload. */
function UploadFacts({ upload }: { upload: SecurityUpload }) {
  const { slug: org } = useOrganization()
  const { format, git_ref, commit_sha, category, created_by, origin, tracked, lanes, run_id } = upload
  const [lane] = lanes
  return (
    <Section title="Report">
      <Facts
        facts={[
          ['Repository', <ReportedRepository key="repository" upload={upload} />],
          ['Branch or tag', git_ref ?? 'Not known'],
          ['Commit', commit_sha && <CommitLink {...upload} sha={commit_sha} />],
          ['Run', run_id && <RunLink org={org} id={run_id} artifact={upload.artifact_id} />],
          ['Opens issues', tracked ? 'Yes' : 'No: it is not the tracked branch'],
          ['Format', format ? FORMAT_NAMES[format] : 'Not detected'],
          ['Category', category],
          ['Size', formatSize(upload.size)],
          ['Sent by', created_by === null ? ORIGIN_NAMES[origin] : `${created_by.name} (${ORIGIN_NAMES[origin]})`],
          ['Counts as', lanes.length === 1 && lane !== undefined && LANE_NAMES[lane.trust]],
          ['Created', <Time key="created" at={upload.created_at} format="absolute" />],
          ['Last changed', <Time key="changed" at={upload.updated_at} format="absolute" />],
        ]}
      />
    </Section>
  )
}
