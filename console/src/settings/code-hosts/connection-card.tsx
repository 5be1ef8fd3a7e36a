import { Alert, Button, Group, Paper, Progress, Stack, Text, Title } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck, IconCircleMinus } from '@tabler/icons-react'
import { useState } from 'react'
import { ConfirmForm, Dialog, useDialog } from '../../actions/dialog.tsx'
import { notifyDone, notifyFailed } from '../../actions/notify.tsx'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { ToneBadge } from '../../page/badges.tsx'
import { listText, PROVIDER_NAMES } from '../../page/names.ts'
import { formatCount } from '../../page/numbers.ts'
import { Time } from '../../page/time.tsx'
import { AccountForm } from '../connect/account-form.tsx'
import { type AccountProvider, PROVIDER_ICONS } from '../connect/account-hosts.ts'
import { CODE_HOST_PATH, type Connection, phaseText } from '../connect/connection.ts'

/** One connected account: how current it is, and what can be done. */
export function ConnectionCard({ connection }: { connection: Connection }) {
  const { account, provider, status, sync } = connection
  const removal = useDialog<true>()
  const renewal = useDialog<AccountProvider>()
  const { isBusy, synchronize, disconnect } = useConnectionActions(connection)
  return (
    <Paper p="md" component="li">
      <Stack gap="sm">
        <Group justify="space-between" align="flex-start">
          <Headline connection={connection} />
          <Group gap="xs">
            <Button
              size="xs"
              variant="default"
              loading={isBusy}
              disabled={status !== 'active'}
              onClick={synchronize}
              aria-label={`Sync now: ${account.login}`}
            >
              Sync now
            </Button>
            {provider !== 'github' && (
              <Button
                size="xs"
                variant="default"
                onClick={() => renewal.open(provider)}
                aria-label={`Replace credentials of ${account.login}`}
              >
                Replace credentials
              </Button>
            )}
            <Button
              size="xs"
              variant="default"
              onClick={() => removal.open(true)}
              aria-label={`Disconnect ${account.login}`}
            >
              Disconnect
            </Button>
          </Group>
        </Group>
        {status === 'suspended' && (
          <Text size="sm">
            {PROVIDER_NAMES[provider]} has suspended the {provider === 'github' ? 'installation' : 'account'}. Resume it
            there: nothing arrives until then.
          </Text>
        )}
        <SyncProgress sync={sync} lastSyncedAt={connection.last_synced_at} />
        <Refusals connection={connection} />
      </Stack>
      <Dialog dialog={renewal} title={`Replace credentials of ${account.login}`} size="lg">
        {(of) => <AccountForm provider={of} connection={connection} onClose={renewal.close} />}
      </Dialog>
      <Dialog dialog={removal} title={`Disconnect ${account.login}`}>
        {() => (
          <ConfirmForm confirmLabel="Disconnect account" send={disconnect} onClose={removal.close}>
            <Consequences connection={connection} />
          </ConfirmForm>
        )}
      </Dialog>
    </Paper>
  )
}

function Headline({ connection }: { connection: Connection }) {
  const { account, provider, host, status, repositories, connected_at, last_event_at } = connection
  const Icon = PROVIDER_ICONS[provider]
  return (
    <Stack gap={2} miw={0}>
      <Group gap="xs">
        <Icon size={18} aria-hidden />
        <Title order={2}>{account.login}</Title>
        {status === 'active' ? (
          <ToneBadge tone="success" icon={IconCircleCheck}>
            Active
          </ToneBadge>
        ) : (
          <ToneBadge tone="waiting" icon={IconCircleMinus}>
            Suspended
          </ToneBadge>
        )}
      </Group>
      <Text size="sm" c="dimmed" component="div">
        {PROVIDER_NAMES[provider]} · {host} · {repositories === 'all' ? 'all repositories' : 'selected repositories'}
        {' · connected '}
        <Time at={connected_at} />
        {last_event_at ? ' · last event ' : ' · no event yet'}
        {last_event_at && <Time at={last_event_at} />}
      </Text>
    </Stack>
  )
}

/** The lists that the code host does not let the server read. */
function Refusals({ connection: { account, provider, refusals, refusals_total: total } }: { connection: Connection }) {
  if (total === 0) return null
  return (
    <Alert color="yellow" variant="light" icon={<IconAlertTriangle />} title="Not read">
      <Text size="sm">{PROVIDER_NAMES[provider]} does not let Shiplock read:</Text>
      <ul aria-label={`Not read: ${account.login}`}>
        {refusals.map(({ repository, list, message, since }) => (
          <li key={`${repository} ${list}`}>
            {listText(list)}
            {repository !== null && ` of ${repository}`}: {message} Since <Time at={since} />
          </li>
        ))}
        {total > refusals.length && <li>{formatCount(total - refusals.length)} more lists</li>}
      </ul>
    </Alert>
  )
}

/** What happens when the account is disconnected. */
function Consequences({ connection: { account, provider } }: { connection: Connection }) {
  const host = PROVIDER_NAMES[provider]
  const isApp = provider === 'github'
  return (
    <>
      Shiplock no longer learns about runs, deployments and alerts of {account.login}, and does not answer{' '}
      {isApp ? 'its protection rules' : 'there'}: deployments that wait for Shiplock keep waiting. What was recorded
      stays.{' '}
      {isApp
        ? `The App stays installed on ${host}, so that you can connect the account again.`
        : `Shiplock removes its webhooks from ${host} and forgets the credentials.`}
    </>
  )
}

type SyncProgressProps = { sync: Connection['sync']; lastSyncedAt: string | null }

/** How far the synchronization is, or when the last one ended. */
function SyncProgress({ sync, lastSyncedAt }: SyncProgressProps) {
  const { state, phase, done, total, error } = sync
  if (state === 'running') return <Running text={phaseText(phase)} done={done} total={total} />
  return (
    <Stack gap="xs">
      {state === 'failed' && (
        <Alert color="red" variant="light" icon={<IconAlertTriangle />} title="The last synchronization failed">
          {error ?? 'The code host did not say why.'} It is tried again by itself.
        </Alert>
      )}
      {state === 'idle' && error !== null && (
        <Alert color="yellow" variant="light" icon={<IconAlertTriangle />} title="Not everything was read">
          {error} It is tried again by itself.
        </Alert>
      )}
      <Text size="sm" c="dimmed" component="div">
        {lastSyncedAt === null ? 'Not synchronized yet' : 'Synchronized '}
        {lastSyncedAt !== null && <Time at={lastSyncedAt} />}
      </Text>
    </Stack>
  )
}

type RunningProps = { text: string; done: number | null; total: number | null }

function Running({ text, done, total }: RunningProps) {
  const isCounted = done !== null && total !== null && total > 0
  const share = isCounted ? Math.min((done / total) * 100, 100) : 100
  return (
    <Stack gap={6}>
      <Group justify="space-between" gap="xs">
        <Text size="sm">{text}</Text>
        {done !== null && (
          <Text size="sm" c="dimmed" ff="text" style={{ fontVariantNumeric: 'tabular-nums' }}>
            {formatCount(done)}
            {total !== null && ` of ${formatCount(total)}`} repositories
          </Text>
        )}
      </Group>
      <Progress value={share} animated={!isCounted} aria-label={text} size="sm" />
    </Stack>
  )
}

function useConnectionActions({ id, account }: Connection) {
  const { slug: org } = useOrganization()
  const { mutateAsync: requestSync } = useApiMutation('post', `${CODE_HOST_PATH}/sync`, ['code_host'])
  const { mutateAsync: removeConnection } = useApiMutation('delete', CODE_HOST_PATH, ['code_host'])
  const [isBusy, setBusy] = useState(false)
  const params = { path: { org, id } }
  return {
    isBusy,
    synchronize: async () => {
      setBusy(true)
      try {
        await requestSync({ params, body: {} })
        notifyDone(`The synchronization of ${account.login} was requested.`)
      } catch (error) {
        notifyFailed(`${account.login} could not be synchronized`, error)
      }
      setBusy(false)
    },
    disconnect: async () => {
      await removeConnection({ params })
      notifyDone(`Disconnected ${account.login}.`)
    },
  }
}
