import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { notifyDone, notifyFailed } from '../../actions/notify.tsx'
import { api } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { Link } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { QueryView } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { DELIVERY_PATH, type Delivery, eventText, outcomeText } from '../connect/connection.ts'
import { deliveryQuery } from '../connect/queries.ts'
import { DeliveryBadge } from './deliveries-page.tsx'
import classes from './delivery-page.module.css'

const route = getRouteApi('/signed-in/orgs/$org/settings/code-hosts/deliveries/$id')

const PAYLOAD_PATH = `${DELIVERY_PATH}/payload` as const

/** One webhook: what it contained, and what came of it. */
export function DeliveryPage() {
  const { slug: org } = useOrganization()
  const { id } = route.useParams()
  const query = useQuery(deliveryQuery(org, id))
  const delivery = query.data?.data
  return (
    <Page
      title={delivery ? eventText(delivery) : 'Delivery'}
      breadcrumbs={[
        <Link key="hosts" {...pages.codeHosts(org)} size="sm">
          Code hosts
        </Link>,
        <Link key="all" {...pages.deliveries(org)} size="sm">
          Deliveries
        </Link>,
      ]}
      actions={delivery && <ReplayButton delivery={delivery} />}
    >
      <QueryView query={query} of="delivery">
        {({ data }) => (
          <Stack gap="lg">
            <Outcome delivery={data} />
            {data.has_payload ? (
              <Payload id={id} />
            ) : (
              <Text size="sm" c="dimmed">
                The payload has been deleted: payloads are kept for 14 days.
              </Text>
            )}
          </Stack>
        )}
      </QueryView>
    </Page>
  )
}

function Outcome({ delivery }: { delivery: Delivery }) {
  const { id, received_at, installation_id } = delivery
  return (
    <Stack gap="xs" aria-live="polite">
      <Group gap="sm">
        <DeliveryBadge delivery={delivery} />
        <Text size="sm">{outcomeText(delivery)}</Text>
      </Group>
      <Text size="sm" c="dimmed" component="div">
        Received <Time at={received_at} /> · delivery <code>{id}</code>
        {installation_id && ` · installation ${installation_id}`}
      </Text>
    </Stack>
  )
}

function Payload({ id }: { id: string }) {
  const { slug: org } = useOrganization()
  const query = api.useQuery('get', PAYLOAD_PATH, { params: { path: { org, delivery: id } } })
  return (
    <Stack gap="xs" component="section" aria-label="Payload">
      <Title order={2}>Payload</Title>
      <QueryView query={query} of="payload">
        {({ data: { payload, truncated } }) => (
          <>
            {truncated && (
              <Text size="sm" c="dimmed">
                The payload is long. This is its start.
              </Text>
            )}
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must take the focus */}
            <pre className={classes.payload} tabIndex={0}>
              {indented(payload)}
            </pre>
          </>
        )}
      </QueryView>
    </Stack>
  )
}

/** JSON with line breaks. The start of a long payload is no JSON, and stays as it is. */
function indented(payload: string): string {
  try {
    return JSON.stringify(JSON.parse(payload), null, 2)
  } catch {
    return payload
  }
}

function ReplayButton({ delivery: { id, status, has_payload } }: { delivery: Delivery }) {
  const { slug: org } = useOrganization()
  const { mutateAsync: replayDelivery } = useApiMutation('post', `${DELIVERY_PATH}/replay`, ['code_host'])
  const [isBusy, setBusy] = useState(false)
  const replay = async () => {
    setBusy(true)
    try {
      await replayDelivery({ params: { path: { org, delivery: id } } })
      notifyDone('The delivery is applied again.')
    } catch (error) {
      notifyFailed('The delivery could not be replayed', error)
    }
    setBusy(false)
  }
  return (
    <Button
      variant="default"
      leftSection={<IconRefresh size={16} aria-hidden />}
      loading={isBusy}
      disabled={!has_payload || status === 'received'}
      onClick={replay}
    >
      Replay
    </Button>
  )
}
