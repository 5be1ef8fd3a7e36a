import { Button, Stack, Text } from '@mantine/core'
import type { Schema } from '../../api/client.ts'
import type { Column } from '../../list/data-list.tsx'
import { Time } from '../../page/time.tsx'
import { CredentialBadge } from '../credentials/credential-badge.tsx'
import { CredentialName } from '../credentials/credential-name.tsx'
import { credentialState } from '../credentials/credential-state.ts'

type ApiKey = Schema<'ApiKey'>

export function apiKeyColumns(onRevoke: (key: ApiKey) => void): Column<ApiKey>[] {
  return [
    {
      key: 'name',
      header: 'Name',
      width: 'minmax(0, 3fr)',
      cell: (key) => <CredentialName credential={key} lines={1} />,
    },
    {
      key: 'scopes',
      header: 'Scopes',
      width: 'minmax(0, 3fr)',
      cell: ({ scopes }) => (
        <Text size="xs" lineClamp={2}>
          {scopes.join(', ')}
        </Text>
      ),
    },
    {
      key: 'environment',
      header: 'Environment',
      width: '7rem',
      from: 'lg',
      cell: ({ environment }) => (environment === 'production' ? 'Production' : 'Development'),
    },
    {
      key: 'used',
      header: 'Last used',
      width: '7.5rem',
      cell: ({ last_used_at }) => (last_used_at ? <Time at={last_used_at} /> : <Text size="sm">Never used</Text>),
    },
    { key: 'state', header: 'State', width: '9rem', cell: (key) => <State apiKey={key} /> },
    {
      key: 'actions',
      header: 'Actions',
      width: '5.5rem',
      align: 'end',
      cell: (key) =>
        credentialState(key) !== 'revoked' && (
          <Button variant="default" size="xs" onClick={() => onRevoke(key)} aria-label={`Revoke ${key.name}`}>
            Revoke
          </Button>
        ),
    },
  ]
}

/** Whether the key works, and until when. */
function State({ apiKey }: { apiKey: ApiKey }) {
  const { expires_at, revoked_at } = apiKey
  const until = revoked_at ?? expires_at
  return (
    <Stack gap={2} align="flex-start">
      <CredentialBadge credential={apiKey} />
      <Text size="xs" c="dimmed" component="div">
        {until === null ? 'Does not expire' : <Until at={until} isRevoked={revoked_at !== null} />}
      </Text>
    </Stack>
  )
}

function Until({ at, isRevoked }: { at: string; isRevoked: boolean }) {
  const isPast = Date.parse(at) <= Date.now()
  return (
    <>
      {!isRevoked && (isPast ? 'Expired ' : 'Expires ')}
      <Time at={at} />
    </>
  )
}
