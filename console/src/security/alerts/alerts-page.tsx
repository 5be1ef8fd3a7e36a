import { Stack, Text } from '@mantine/core'
import { IconBellCheck } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useOrganization } from '../../api/session.ts'
import { type Column, DataList } from '../../list/data-list.tsx'
import { ChoiceFilter, Filters, PeriodFilter } from '../../list/filters.tsx'
import { useCursorList, useListPage } from '../../list/list-page.ts'
import { StatusBadge, severityLook, statusLook } from '../../page/badges.tsx'
import { ButtonLink, Link } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { oneLine } from '../../page/reported-text.ts'
import { Empty } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { nameOfAlertType } from '../facts/names.ts'
import { alertsQuery } from '../facts/queries.ts'
import { ALERT_SEVERITIES, ALERT_STATUSES, type Alert } from '../facts/searches.ts'
import { AlertSeverity, NoMatch } from '../facts/signals.tsx'
import { alertTarget } from '../triage/targets.ts'
import { useListTriage } from '../triage/use-list-triage.tsx'

const route = getRouteApi('/signed-in/orgs/$org/security/alerts')
const STATUSES = ALERT_STATUSES.map((value) => ({ value, label: statusLook(value).label }))
const SEVERITIES = ALERT_SEVERITIES.map((value) => ({ value, label: severityLook(value).label }))

/** The alerts of connected code hosts. */
export function AlertsPage() {
  const { slug: org } = useOrganization()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { status, severity } = search
  const list = useCursorList(alertsQuery(org, search))
  const { isFiltered, filter: change, clear } = useListPage(search)
  const { selection, actions, controls } = useListTriage({ type: 'alert', list, targetOf: alertTarget })
  return (
    <Page
      title="Alerts"
      description="The alerts of connected code hosts, newest first. What you dismiss or reopen here changes there, too."
    >
      <Filters isFiltered={isFiltered} onClear={clear}>
        <ChoiceFilter label="Status" value={status} options={STATUSES} onChange={(status) => change({ status })} />
        <ChoiceFilter
          label="Severity"
          value={severity}
          options={SEVERITIES}
          onChange={(severity) => change({ severity })}
        />
        <PeriodFilter value={search} onChange={change} />
      </Filters>
      <DataList
        of="alerts"
        list={list}
        columns={alertColumns(org)}
        rowKey={({ id }) => id}
        onOpen={({ id }) => void navigate(pages.alert(org, id))}
        selection={selection}
        actions={actions}
        empty={isFiltered ? <NoMatch of="alerts" onClear={clear} /> : <NoAlerts org={org} />}
      />
      {controls}
    </Page>
  )
}

function NoAlerts({ org }: { org: string }) {
  return (
    <Empty
      icon={IconBellCheck}
      title="No alerts"
      actions={
        <ButtonLink {...pages.settings(org)} variant="filled">
          Open settings
        </ButtonLink>
      }
    >
      Connect a code host in the settings to read its alerts about code, dependencies and secrets.
    </Empty>
  )
}

function alertColumns(org: string): Column<Alert>[] {
  return [
    {
      key: 'severity',
      header: 'Severity',
      width: '6.5rem',
      cell: ({ severity }) => <AlertSeverity severity={severity} />,
    },
    {
      key: 'alert',
      header: 'Alert',
      width: 'minmax(0, 3fr)',
      cell: ({ id, title, repository, package_name, cve_id, ghsa_id }) => (
        <Stack gap={0}>
          <Link {...pages.alert(org, id)} fw={500} size="sm" truncate>
            <bdi>{oneLine(title, 300) || 'Untitled'}</bdi>
          </Link>
          <Text size="xs" c="dimmed" truncate>
            <bdi>
              {[repository, package_name, cve_id ?? ghsa_id]
                .filter((part) => part !== null)
                .map((part) => oneLine(part, 120))
                .join(' · ')}
            </bdi>
          </Text>
        </Stack>
      ),
    },
    {
      key: 'type',
      header: 'Type',
      width: '8rem',
      from: 'md',
      cell: (alert) => <Text size="sm">{oneLine(nameOfAlertType(alert), 40)}</Text>,
    },
    { key: 'status', header: 'Status', width: '7rem', cell: ({ status }) => <StatusBadge status={status} /> },
    {
      key: 'detected',
      header: 'Detected',
      width: '7.5rem',
      from: 'xs',
      align: 'end',
      cell: ({ detected_at }) => <Time at={detected_at} />,
    },
  ]
}
