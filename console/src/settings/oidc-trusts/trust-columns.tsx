import { Button, Stack, Text } from '@mantine/core'
import type { Schema } from '../../api/client.ts'
import type { Column } from '../../list/data-list.tsx'
import { Time } from '../../page/time.tsx'
import { CredentialBadge } from '../credentials/credential-badge.tsx'
import { CredentialName } from '../credentials/credential-name.tsx'
import { credentialState } from '../credentials/credential-state.ts'

type Trust = Schema<'OidcTrust'>

export function trustColumns(onRevoke: (trust: Trust) => void): Column<Trust>[] {
  return [
    {
      key: 'name',
      header: 'Name',
      width: 'minmax(0, 2.5fr)',
      cell: (trust) => <CredentialName credential={trust} lines={2} />,
    },
    {
      key: 'conditions',
      header: 'Trusts jobs with',
      width: 'minmax(0, 3fr)',
      cell: ({ issuer, conditions }) => (
        <Stack gap={0}>
          <Text size="xs" lineClamp={2}>
            {Object.entries(conditions)
              .map(([claim, value]) => `${claim}=${[value].flat().join('|')}`)
              .join(', ')}
          </Text>
          <Text size="xs" c="dimmed" lineClamp={1}>
            {issuer}
          </Text>
        </Stack>
      ),
    },
    {
      key: 'scopes',
      header: 'Scopes',
      width: 'minmax(0, 1fr)',
      from: 'lg',
      cell: ({ scopes }) => <Text size="xs">{scopes.join(', ')}</Text>,
    },
    {
      key: 'used',
      header: 'Last used',
      width: '6.5rem',
      cell: ({ last_used_at }) => (last_used_at ? <Time at={last_used_at} /> : <Text size="sm">Never used</Text>),
    },
    { key: 'state', header: 'State', width: '6.5rem', cell: (trust) => <CredentialBadge credential={trust} /> },
    {
      key: 'actions',
      header: 'Actions',
      width: '5.5rem',
      align: 'end',
      cell: (trust) =>
        credentialState(trust) !== 'revoked' && (
          <Button variant="default" size="xs" onClick={() => onRevoke(trust)} aria-label={`Revoke ${trust.name}`}>
            Revoke
          </Button>
        ),
    },
  ]
}
