import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { IconCircleCheck, IconCircleMinus } from '@tabler/icons-react'
import { ConfirmForm } from '../../actions/confirm-form.tsx'
import { Dialog, useDialog } from '../../actions/dialog.tsx'
import { ToneBadge } from '../../page/badges.tsx'
import { PROVIDER_NAMES } from '../../page/provider-names.ts'
import { Time } from '../../page/time.tsx'
import { AccountForm } from './account-form.tsx'
import type { AccountProvider } from './account-hosts.ts'
import type { Connection } from './connection.ts'
import { PROVIDER_ICONS } from './provider-icons.ts'
import { SyncProgress } from './sync-progress.tsx'
import { useConnectionActions } from './use-connection-actions.ts'

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
