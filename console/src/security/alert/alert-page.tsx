import { Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { StatusBadge } from '../../page/badges.tsx'
import { ExternalLink, Link } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { oneLine } from '../../page/reported-text.ts'
import { RepositoryLink } from '../../page/repository.tsx'
import { Facts, Section } from '../../page/sections.tsx'
import { QueryView } from '../../page/states.tsx'
import { ClampedText } from '../../page/text-block.tsx'
import { Time } from '../../page/time.tsx'
import { locationText, nameOfAlertType, nameOfSource } from '../facts/names.ts'
import { alertQuery } from '../facts/queries.ts'
import type { Alert } from '../facts/searches.ts'
import { AlertSeverity, IssueLink } from '../facts/signals.tsx'
import { VulnerabilityIds } from '../facts/vulnerability.tsx'
import { alertTarget } from '../triage/targets.ts'
import { DismissalNote } from '../triage/triage-list.tsx'
import { TriageButtons, useTriage } from '../triage/use-triage.tsx'

const route = getRouteApi('/signed-in/orgs/$org/security/alerts/$id')

/** One alert of a code host. */
export function AlertPage() {
  const { org, id } = route.useParams()
  const query = useQuery(alertQuery(org, id))
  const alert = query.data?.data
  const triage = useTriage()
  return (
    <Page
      title={alert ? oneLine(alert.title, 200) || 'Alert' : 'Alert'}
      heading={alert && <bdi>{oneLine(alert.title, 300) || 'Untitled alert'}</bdi>}
      breadcrumbs={
        <Link {...pages.alerts(org)} size="sm">
          Alerts
        </Link>
      }
      actions={alert && <TriageButtons triage={triage} type="alert" target={alertTarget(alert)} />}
    >
      <QueryView query={query} of="alert">
        {({ data }) => <AlertView alert={data} org={org} />}
      </QueryView>
    </Page>
  )
}

const DELIVERIES = {
  pending: 'The code host is being told.',
  delivered: 'The code host has been told.',
  failed: 'The code host could not be told, so the alert has its status there.',
} as const

function AlertView({ alert, org }: { alert: Alert; org: string }) {
  const { severity, status, repository, description, dismissal_delivery: delivery, proposed_dismissal } = alert
  return (
    <Stack gap="xl">
      <Group gap="xs">
        <AlertSeverity severity={severity} />
        <StatusBadge status={status} />
        <Text size="sm" c="dimmed">
          {oneLine(nameOfAlertType(alert), 60)} · {oneLine(repository, 150)}
        </Text>
      </Group>
      {status === 'dismissed' && <DismissalNote dismissed={alert} />}
      {proposed_dismissal && (
        <Text size="sm">
          Dismissed on {nameOfSource(alert.provider)}
          {proposed_dismissal.by_name && (
            <>
              {' '}
              by <bdi>{oneLine(proposed_dismissal.by_name, 100)}</bdi>
            </>
          )}
          . That is a proposal: the alert stays open until somebody dismisses it here.
        </Text>
      )}
      {delivery && (
        <Text size="sm" role={delivery === 'failed' ? 'alert' : undefined}>
          {DELIVERIES[delivery]}
        </Text>
      )}
      {description && description.trim() !== alert.title.trim() && <ClampedText text={description} of="description" />}
      <Section title="Details">
        <AlertFacts alert={alert} org={org} />
      </Section>
      {alert.references.length > 0 && (
        <Section title="References">
          <Stack gap={4}>
            {alert.references.slice(0, 20).map((address) => (
              <Text key={address} size="sm">
                <ExternalLink href={address}>{oneLine(address, 200)}</ExternalLink>
              </Text>
            ))}
          </Stack>
        </Section>
      )}
    </Stack>
  )
}

function AlertFacts({ alert, org }: { alert: Alert; org: string }) {
  const { package_name, vulnerable_versions, patched_version, location, issue_id, grouping_detail } = alert
  const short = (text: string | null) => text && oneLine(text, 200)
  return (
    <Facts
      facts={[
        ['Code host', <AtCodeHost key="host" alert={alert} />],
        ['Issue', issue_id && <IssueLink org={org} id={issue_id} detail={grouping_detail} />],
        ['Finding', alert.finding_id && <FindingLink org={org} id={alert.finding_id} />],
        ['Repository', <RepositoryLink key="repository" name={alert.repository} provider={alert.provider} />],
        ['Package', short(package_name)],
        ['Vulnerable versions', short(vulnerable_versions)],
        ['Fixed in', short(patched_version)],
        ['CVE', alert.cve_id && <VulnerabilityIds ids={[alert.cve_id]} />],
        ['Advisory', alert.ghsa_id && <VulnerabilityIds ids={[alert.ghsa_id]} />],
        ['Place', location && locationText(location)],
        ['Rule', short(alert.rule_id)],
        ['Scanner', short(alert.tool_name)],
        ['Type of secret', short(alert.secret_type)],
        ['Branch', short(alert.git_ref)],
        ['Detected', <Time key="detected" at={alert.detected_at} />],
        ['Fixed', alert.fixed_at && <Time at={alert.fixed_at} />],
      ]}
    />
  )
}

function AtCodeHost({ alert: { provider, github_alert_url } }: { alert: Alert }) {
  const name = nameOfSource(provider)
  return github_alert_url ? <ExternalLink href={github_alert_url}>Open on {name}</ExternalLink> : name
}

function FindingLink({ org, id }: { org: string; id: string }) {
  return (
    <Link {...pages.finding(org, id)} size="sm">
      Open finding
    </Link>
  )
}
