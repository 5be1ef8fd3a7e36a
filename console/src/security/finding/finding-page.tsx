import { Alert, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { Schema } from '../../api/client.ts'
import { SeverityBadge, StatusBadge } from '../../page/badges.tsx'
import { ExternalLink, Link } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { oneLine } from '../../page/reported-text.ts'
import { CommitLink, RepositoryLink } from '../../page/repository.tsx'
import { Facts, Section } from '../../page/sections.tsx'
import { QueryView } from '../../page/states.tsx'
import { ClampedText } from '../../page/text-block.tsx'
import { Time } from '../../page/time.tsx'
import { CodePlace } from '../facts/code-place.tsx'
import { endReason, KIND_NAMES, locationText, nameOfSource, placeText, shownState } from '../facts/names.ts'
import { findingQuery } from '../facts/queries.ts'
import type { Finding } from '../facts/searches.ts'
import { IssueLink } from '../facts/signals.tsx'
import { Vulnerability } from '../facts/vulnerability.tsx'
import { branchName } from '../findings/finding-columns.tsx'
import { findingTarget } from '../triage/targets.ts'
import { DismissalNote, EndedDismissalNote, TriageList } from '../triage/triage-list.tsx'
import { TriageButtons, useTriage } from '../triage/use-triage.tsx'

const route = getRouteApi('/signed-in/orgs/$org/security/findings/$id')

const METHODS: Record<Identity['method'], string> = {
  new: 'Every report matched it exactly',
  same_fingerprint: 'A later report had its fingerprint again',
  same_place: 'By its neighbours, among equal findings of the file',
  edited_in_place: 'Its code or message changed in place',
  moved_in_file: 'It moved within its file',
  file_renamed: 'Its file or folder was renamed',
  moved_to_file: 'It moved to another file',
}

/** One finding: what a scanner reported, where, and what was decided about it. */
export function FindingPage() {
  const { org, id } = route.useParams()
  const query = useQuery(findingQuery(org, id))
  const finding = query.data?.data
  const triage = useTriage()
  return (
    <Page
      title={finding ? oneLine(finding.title, 200) || 'Finding' : 'Finding'}
      heading={finding && <bdi>{oneLine(finding.title, 300) || 'Untitled finding'}</bdi>}
      breadcrumbs={
        <Link {...pages.findings(org)} size="sm">
          Findings
        </Link>
      }
      actions={finding && <TriageButtons triage={triage} type="finding" target={findingTarget(finding)} />}
    >
      <QueryView query={query} of="finding">
        {({ data }) => <FindingView finding={data} org={org} />}
      </QueryView>
    </Page>
  )
}

function FindingView({ finding, org }: { finding: Finding; org: string }) {
  const { id, severity, state, kind, description, intel, intel_at_detection: before, vuln_ids, cwes } = finding
  const earlier = before.epss?.date && before.epss.score !== null
  return (
    <Stack gap="xl">
      <Group gap="xs">
        <SeverityBadge severity={severity} />
        <StatusBadge status={shownState(finding)} />
        <Text size="sm" c="dimmed">
          {KIND_NAMES[kind]} · {oneLine(finding.repository, 150)}
          {!finding.tracked && ' · on a branch that does not open issues'}
        </Text>
      </Group>
      {finding.preview && (
        <Alert color="gray" title="Preview">
          It counts in no figure, opens no issue and blocks nothing until matching is turned on in the settings.
        </Alert>
      )}
      {state === 'dismissed' && <DismissalNote dismissed={finding} />}
      <EndedDismissalNote ended={finding.dismissal_ended} />
      {description && description.trim() !== finding.title.trim() && (
        <ClampedText text={description} of="description" />
      )}
      <Section title="Evidence">
        <CodePlace finding={finding} />
        <FindingFacts finding={finding} org={org} />
      </Section>
      <Vulnerability
        intel={intel}
        vulnIds={vuln_ids}
        cwes={cwes}
        fixedVersions={finding.fixed_version === null ? [] : [finding.fixed_version]}
        earlier={
          earlier && before.epss ? [{ date: before.epss.date as string, score: before.epss.score as number }] : []
        }
      />
      <Section title="Decisions">
        <TriageList findingId={id} />
      </Section>
    </Stack>
  )
}

function FindingFacts({ finding, org }: { finding: Finding; org: string }) {
  const { scanner, scanner_version, rule_id, source, origin, native_url, issue_id, grouping_reason } = finding
  const short = (text: string | null) => text && oneLine(text, 200)
  return (
    <Facts
      facts={[
        ['Issue', issue_id && <IssueLink org={org} id={issue_id} detail={grouping_reason?.detail ?? null} />],
        ['Repository', <RepositoryLink key="repository" name={finding.repository} provider={finding.provider} />],
        ['Package', finding.package_name && placeText(finding)],
        ['Scanner', `${oneLine(scanner, 100)} ${oneLine(scanner_version ?? '', 40)}`],
        ['Rule', short(rule_id)],
        ['Type of secret', short(finding.secret_type)],
        ['Resource', short(finding.resource_name)],
        ['Branch', finding.git_ref && oneLine(branchName(finding.git_ref), 150)],
        ['Commit', finding.commit_sha && <CommitLink {...finding} sha={finding.commit_sha} />],
        ['Category', short(finding.category)],
        [
          'Reported in',
          origin === 'inventory'
            ? 'A component that an advisory names'
            : origin === 'alert'
              ? `An alert of ${nameOfSource(source)}`
              : `A ${nameOfSource(source)} report`,
        ],
        ['Component', finding.purl && <ComponentLink key="component" org={org} purl={finding.purl} />],
        ['Ended because', endReason(finding)],
        ['Newest report', finding.upload_id && <ReportLink org={org} finding={finding} id={finding.upload_id} />],
        ['At the scanner', native_url && <ExternalLink href={native_url}>{oneLine(native_url, 100)}</ExternalLink>],
        ['First seen', <Time key="first" at={finding.first_seen_at} />],
        ['Last seen', <Time key="last" at={finding.last_seen_at} />],
        ['Recognized', origin !== 'inventory' && recognitionText(finding.identity)],
      ]}
    />
  )
}

/** The newest report of the scanner for the branch, which no longer has what is fixed. */
function ReportLink({ org, id, finding }: { org: string; id: string; finding: Finding }) {
  return (
    <>
      <Link {...pages.upload(org, id)} size="sm">
        Open the upload
      </Link>
      {finding.state === 'fixed' && endReason(finding) === null && (
        <Text size="xs" c="dimmed">
          It no longer has the finding.
        </Text>
      )}
    </>
  )
}

/** Where the package is, if a bill of materials has it. */
function ComponentLink({ org, purl }: { org: string; purl: string }) {
  return (
    <Link {...pages.components(org)} search={{ purl, present: 'any' }} size="sm">
      In the inventory
    </Link>
  )
}

type Identity = Schema<'Finding'>['identity']

/** How reports were found to contain a finding that was already known. */
function recognitionText({ method, matched_from: from }: Identity): string {
  return from === null ? METHODS[method] : `${METHODS[method]}, from ${oneLine(locationText(from), 150)}`
}
