import { Button, Code, Group, Paper, Stack, Text } from '@mantine/core'
import { IconArchive, IconCircleCheck, IconDownload } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { Schema } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { ToneBadge } from '../../page/badges.tsx'
import { saveFile } from '../../page/copy.tsx'
import { Page } from '../../page/page.tsx'
import { Facts } from '../../page/sections.tsx'
import { QueryView } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { ProvenanceTabs } from '../facts/provenance-parts.tsx'
import { signingKeysQuery } from '../facts/queries.ts'

type SigningKey = Schema<'SigningKeys'>['keys'][number]

/** The public keys that verify the statements of the organization. */
export function KeysPage() {
  const { slug: org } = useOrganization()
  const query = useQuery(signingKeysQuery(org))
  const keys = query.data?.data.keys ?? []
  return (
    <Page
      title="Signing keys"
      description="The public keys that verify signed statements. Keep a copy: a key that comes with a statement proves nothing. What a retired key signed stays valid."
      actions={
        keys.length > 0 && (
          <Button
            variant="default"
            leftSection={<IconDownload size={15} aria-hidden />}
            onClick={() => saveFile('keys.pem', keys.map(({ pem }) => pem).join(''), 'application/x-pem-file')}
          >
            Download all
          </Button>
        )
      }
    >
      <ProvenanceTabs org={org} />
      <QueryView query={query} of="keys">
        {({ data }) => (
          <Stack gap="md">
            {data.keys.map((key) => (
              <KeyCard key={key.keyid} signingKey={key} />
            ))}
          </Stack>
        )}
      </QueryView>
    </Page>
  )
}

function KeyCard({ signingKey: { keyid, pem, created_at, retired_at } }: { signingKey: SigningKey }) {
  return (
    <Paper p="md" component="section" aria-label={`Key ${keyid.slice(0, 16)}`}>
      <Stack gap="sm">
        <Group justify="space-between">
          {retired_at === null ? (
            <ToneBadge tone="success" icon={IconCircleCheck}>
              Current
            </ToneBadge>
          ) : (
            <ToneBadge tone="neutral" icon={IconArchive}>
              Retired
            </ToneBadge>
          )}
          <Button
            size="xs"
            variant="default"
            leftSection={<IconDownload size={14} aria-hidden />}
            onClick={() => saveFile(`${keyid.slice(0, 16)}.pem`, pem, 'application/x-pem-file')}
          >
            Download
          </Button>
        </Group>
        <div>
          <Text size="xs" c="dimmed">
            Fingerprint (SHA-256)
          </Text>
          <Code>{keyid}</Code>
        </div>
        <Facts
          facts={[
            ['Algorithm', 'ECDSA P-256 with SHA-256'],
            ['Signs since', <Time key="since" at={created_at} format="absolute" />],
            ['Signed until', retired_at && <Time at={retired_at} format="absolute" />],
          ]}
        />
      </Stack>
    </Paper>
  )
}
