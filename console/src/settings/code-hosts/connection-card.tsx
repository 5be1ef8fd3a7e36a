import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { IconCircleCheck, IconCircleMinus } from '@tabler/icons-react'
import { useState } from 'react'
import { ConfirmForm } from '../../actions/confirm-form.tsx'
import { Dialog, useDialog } from '../../actions/dialog.tsx'
import { notifyDone, notifyFailed } from '../../actions/notify.tsx'
import { client } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { useRefresh } from '../../api/use-refresh.ts'
import { ToneBadge } from '../../page/badges.tsx'
import { Time } from '../../page/time.tsx'
import { CODE_HOST_PATH, CODE_HOSTS_PATH, type Connection, PROVIDER_NAMES } from './connection.ts'
import { SyncProgress } from './sync-progress.tsx'

/** One connected account: how current it is, and what can be done. */
export function ConnectionCard({ connection }: { connection: Connection }) {
  const { account, provider, host, status, repositories, connected_at, last_event_at, sync } = connection
  const removal = useDialog<true>()
  const { isBusy, synchronize, disconnect } = useConnectionActions(connection)
  return (
    <Paper p="md" component="li">
      <Stack gap="sm">
        <Group justify="space-between" align="flex-start">
          <Stack gap={2} miw={0}>
            <Group gap="xs">
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
              {PROVIDER_NAMES[provider]} · {host} ·{' '}
              {repositories === 'all' ? 'all repositories' : 'selected repositories'}
              {' · connected '}
              <Time at={connected_at} />
              {last_event_at ? ' · last event ' : ' · no event yet'}
              {last_event_at && <Time at={last_event_at} />}
            </Text>
          </Stack>
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
            {PROVIDER_NAMES[provider]} has suspended the installation. Resume it there: nothing arrives until then.
          </Text>
        )}
        <SyncProgress sync={sync} lastSyncedAt={connection.last_synced_at} />
      </Stack>
      <Dialog dialog={removal} title={`Disconnect ${account.login}`}>
        {() => (
          <ConfirmForm confirmLabel="Disconnect account" send={disconnect} onClose={removal.close}>
            Shiplock no longer learns about runs, deployments and alerts of {account.login}, and does not answer its
            protection rules: deployments that wait for Shiplock keep waiting. What was recorded stays. The App stays
            installed on {PROVIDER_NAMES[provider]}, so that you can connect the account again.
          </ConfirmForm>
        )}
      </Dialog>
    </Paper>
  )
}

function useConnectionActions({ id, account }: Connection) {
  const { slug: org } = useOrganization()
  const refresh = useRefresh()
  const [isBusy, setBusy] = useState(false)
  const params = { path: { org, id } }
  return {
    isBusy,
    synchronize: async () => {
      setBusy(true)
      try {
        await client.POST(`${CODE_HOST_PATH}/sync`, { params, body: {} })
        notifyDone(`The synchronization of ${account.login} was requested.`)
        await refresh(CODE_HOSTS_PATH)
      } catch (error) {
        notifyFailed(`${account.login} could not be synchronized`, error)
      }
      setBusy(false)
    },
    disconnect: async () => {
      await client.DELETE(CODE_HOST_PATH, { params })
      notifyDone(`Disconnected ${account.login}.`)
      await refresh(CODE_HOSTS_PATH)
    },
  }
}
