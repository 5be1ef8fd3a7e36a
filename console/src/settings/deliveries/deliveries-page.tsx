import {
  IconCircleCheck,
  IconCircleDashed,
  IconCircleMinus,
  IconCircleX,
  IconClock,
  IconWebhook,
} from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useOrganization } from '../../api/session.ts'
import { type Column, DataList } from '../../list/data-list.tsx'
import { ChoiceFilter, Filters } from '../../list/filters.tsx'
import { useCursorList, useListPage } from '../../list/list-page.ts'
import { type Tone, ToneBadge } from '../../page/badges.tsx'
import { Link } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { Empty } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { DELIVERY_STATUSES, type Delivery, eventText } from '../connect/connection.ts'
import { deliveriesQuery } from '../connect/queries.ts'

const route = getRouteApi('/signed-in/orgs/$org/settings/code-hosts/deliveries')

const BADGES = {
  received: ['Received', 'waiting', IconCircleDashed],
  applied: ['Applied', 'success', IconCircleCheck],
  ignored: ['Ignored', 'neutral', IconCircleMinus],
  failed: ['Failed', 'failure', IconCircleX],
} as const satisfies Record<Delivery['status'], [string, Tone, typeof IconClock]>

const DELIVERY_STATUS_OPTIONS = DELIVERY_STATUSES.map((value) => ({ value, label: BADGES[value][0] }))

/** What the code hosts have sent, newest first. */
export function DeliveriesPage() {
  const { slug: org } = useOrganization()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const list = useCursorList(deliveriesQuery(org, search))
  const { isFiltered, filter, clear } = useListPage(search)
  return (
    <Page
      title="Deliveries"
      description="The webhooks of the connected code hosts of the last 90 days, and what came of them."
      breadcrumbs={
        <Link {...pages.codeHosts(org)} size="sm">
          Code hosts
        </Link>
      }
    >
      <Filters isFiltered={isFiltered} onClear={clear}>
        <ChoiceFilter
          label="Status"
          value={search.status}
          options={DELIVERY_STATUS_OPTIONS}
          onChange={(status) => filter({ status })}
        />
      </Filters>
      <DataList
        of="deliveries"
        list={list}
        columns={columnsOf(org)}
        rowKey={({ id }) => id}
        onOpen={({ id }) => void navigate(pages.delivery(org, id))}
        empty={
          <Empty icon={IconWebhook} title={search.status ? 'No delivery has this status' : 'No deliveries'}>
            Events of connected accounts are listed here as they arrive.
          </Empty>
        }
      />
    </Page>
  )
}

function columnsOf(org: string): Column<Delivery>[] {
  return [
    { key: 'status', header: 'Status', width: '7rem', cell: (delivery) => <DeliveryBadge delivery={delivery} /> },
    {
      key: 'event',
      header: 'Event',
      width: 'minmax(0, 2fr)',
      cell: (delivery) => (
        <Link {...pages.delivery(org, delivery.id)} size="sm" fw={500} truncate>
          {eventText(delivery)}
        </Link>
      ),
    },
    { key: 'id', header: 'Delivery', width: 'minmax(0, 2fr)', from: 'lg', cell: ({ id }) => <code>{id}</code> },
    { key: 'tries', header: 'Tries', width: '4rem', from: 'md', align: 'end', cell: ({ attempts }) => attempts },
    {
      key: 'received',
      header: 'Received',
      width: '8rem',
      align: 'end',
      cell: ({ received_at }) => <Time at={received_at} />,
    },
  ]
}

export function DeliveryBadge({ delivery: { status, waiting } }: { delivery: Pick<Delivery, 'status' | 'waiting'> }) {
  const [label, tone, icon] = waiting ? (['Waiting', 'waiting', IconClock] as const) : BADGES[status]
  return (
    <ToneBadge tone={tone} icon={icon}>
      {label}
    </ToneBadge>
  )
}
