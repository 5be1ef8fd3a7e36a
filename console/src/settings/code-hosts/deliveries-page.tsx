import { IconWebhook } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { CURSOR_PAGES, useCursorList } from '../../list/cursor-list.ts'
import { type Column, DataList } from '../../list/data-list.tsx'
import { ChoiceFilter, Filters } from '../../list/filters.tsx'
import { Link } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { Empty } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { DELIVERIES_PATH, type Delivery, eventText } from './delivery.ts'
import { DELIVERY_STATUS_OPTIONS, DeliveryBadge } from './delivery-status.tsx'

const route = getRouteApi('/signed-in/orgs/$org/settings/code-hosts/deliveries')

/** What the code hosts have sent, newest first. */
export function DeliveriesPage() {
  const { slug: org } = useOrganization()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const init = { params: { path: { org }, query: { ...search, limit: 50 } } }
  const key = ['get', DELIVERIES_PATH, init]
  const list = useCursorList<Delivery>(api.useInfiniteQuery('get', DELIVERIES_PATH, init, CURSOR_PAGES), key)
  return (
    <Page
      title="Deliveries"
      description="The webhooks of the connected code hosts of the last 90 days, and what came of them."
      breadcrumbs={
        <Link to="/orgs/$org/settings/code-hosts" params={{ org }} size="sm">
          Code hosts
        </Link>
      }
    >
      <Filters isFiltered={search.status !== undefined} onClear={() => void navigate({ search: {} })}>
        <ChoiceFilter
          label="Status"
          value={search.status}
          options={DELIVERY_STATUS_OPTIONS}
          onChange={(status) => void navigate({ search: { status }, replace: true })}
        />
      </Filters>
      <DataList
        of="deliveries"
        list={list}
        columns={columnsOf(org)}
        rowKey={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/orgs/$org/settings/code-hosts/deliveries/$id', params: { org, id } })}
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
        <Link
          to="/orgs/$org/settings/code-hosts/deliveries/$id"
          params={{ org, id: delivery.id }}
          size="sm"
          fw={500}
          truncate
        >
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
