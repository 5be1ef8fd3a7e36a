import { Stack, Text } from '@mantine/core'
import { IconHistory } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useOrganization } from '../../api/session.ts'
import { type Column, DataList } from '../../list/data-list.tsx'
import { ChoiceFilter, Filters, PeriodFilter } from '../../list/filters.tsx'
import { useCursorList, useListPage } from '../../list/list-page.ts'
import { PersonName } from '../../page/badges.tsx'
import { ButtonLink, Link } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { oneLine } from '../../page/reported-text.ts'
import { Empty } from '../../page/states.tsx'
import { formatTime, Time } from '../../page/time.tsx'
import { nameOfSource } from '../facts/names.ts'
import { triagesQuery } from '../facts/queries.ts'
import { TRIAGE_ACTIONS, TRIAGE_SOURCES, TRIAGE_STATUSES } from '../facts/searches.ts'
import { NoMatch } from '../facts/signals.tsx'
import { TargetLinks, UndoTriageButton } from '../triage/triage-list.tsx'
import { alertsOf, deciderOf, endingOf, type TriageRecord, wordsOf } from '../triage/triage-words.ts'

const route = getRouteApi('/signed-in/orgs/$org/security/triage')

const capital = (value: string) => value[0]?.toUpperCase() + value.slice(1)

const ACTIONS = TRIAGE_ACTIONS.map((value) => ({ value, label: capital(value) }))

const STATUSES = TRIAGE_STATUSES.map((value) => ({ value, label: capital(value) }))

const SOURCES = TRIAGE_SOURCES.map((value) => ({
  value,
  label: value === 'shiplock' ? 'A person' : nameOfSource(value),
}))

/** Who decided what about findings, issues and alerts. */
export function TriagesPage() {
  const { slug: org } = useOrganization()
  const search = route.useSearch()
  const { action, source, status } = search
  const list = useCursorList(triagesQuery(org, search))
  const { isFiltered, filter: change, clear } = useListPage(search)
  return (
    <Page
      title="Triage history"
      description="Who dismissed, reopened, split or merged what, and why, newest first."
      breadcrumbs={
        <Link {...pages.issues(org)} size="sm">
          Issues
        </Link>
      }
    >
      <Filters isFiltered={isFiltered} onClear={clear}>
        <ChoiceFilter label="Decision" value={action} options={ACTIONS} onChange={(action) => change({ action })} />
        <ChoiceFilter label="Decided by" value={source} options={SOURCES} onChange={(source) => change({ source })} />
        <ChoiceFilter label="Status" value={status} options={STATUSES} onChange={(status) => change({ status })} />
        <PeriodFilter value={search} onChange={change} />
      </Filters>
      <DataList
        of="decisions"
        list={list}
        columns={columnsOf(org)}
        rowKey={({ id }) => id}
        empty={
          isFiltered ? (
            <NoMatch of="decisions" onClear={clear} />
          ) : (
            <Empty
              icon={IconHistory}
              title="Nothing was decided yet"
              actions={
                <ButtonLink {...pages.issues(org)} variant="filled">
                  Open issues
                </ButtonLink>
              }
            >
              Dismiss an issue with the key d, or upload a VEX document. Every decision is kept here with its reason.
            </Empty>
          )
        }
      />
    </Page>
  )
}

function columnsOf(org: string): Column<TriageRecord>[] {
  return [
    {
      key: 'who',
      header: 'Who',
      width: 'minmax(0, 1fr)',
      cell: (triage) => <PersonName name={oneLine(deciderOf(triage), 80)} />,
    },
    {
      key: 'what',
      header: 'Decision',
      width: 'minmax(0, 3fr)',
      cell: (triage) => <Decision triage={triage} org={org} />,
    },
    {
      key: 'when',
      header: 'When',
      width: '8rem',
      align: 'end',
      cell: ({ created_at }) => <Time at={created_at} />,
    },
    {
      key: 'status',
      header: 'Status',
      width: '7.5rem',
      align: 'end',
      cell: (triage) => <TriageStatus triage={triage} />,
    },
  ]
}

function Decision({ triage, org }: { triage: TriageRecord; org: string }) {
  const alerts = alertsOf(triage)
  return (
    <Stack gap={2}>
      <Text size="sm">
        {capital(wordsOf(triage))}
        {alerts && `, with ${alerts}`}
      </Text>
      {triage.comment && (
        <Text size="sm" c="dimmed" lineClamp={3}>
          <bdi>{oneLine(triage.comment, 500)}</bdi>
        </Text>
      )}
      <TargetLinks triage={triage} org={org} />
    </Stack>
  )
}

function TriageStatus({ triage }: { triage: TriageRecord }) {
  const ending = endingOf(triage)
  if (ending === null)
    return (
      <Stack gap={2} align="flex-end">
        <UndoTriageButton triage={triage} />
        {triage.expires_at && (
          <Text size="xs" c="dimmed">
            Until {formatTime(triage.expires_at)}
          </Text>
        )}
      </Stack>
    )
  return (
    <Text size="sm" c="dimmed">
      {oneLine(ending, 100)}
    </Text>
  )
}
