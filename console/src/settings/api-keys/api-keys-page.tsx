import { Button, Stack, Text } from '@mantine/core'
import { IconKey, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ConfirmForm, Dialog, useDialog } from '../../actions/dialog.tsx'
import { notifyDone } from '../../actions/notify.tsx'
import type { Schema } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { type Column, DataList } from '../../list/data-list.tsx'
import { ChoiceFilter, Filters, TextFilter } from '../../list/filters.tsx'
import { useListPage, wholeList } from '../../list/list-page.ts'
import { Page } from '../../page/page.tsx'
import { Empty } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { CREDENTIAL_STATE_OPTIONS, CredentialBadge, CredentialName } from '../frame/credential-parts.tsx'
import { credentialState } from '../frame/credential-state.ts'
import { apiKeysQuery } from '../frame/queries.ts'
import { CreateApiKeyForm, type CreatedKey, ShownApiKey } from './create-api-key.tsx'

const route = getRouteApi('/signed-in/orgs/$org/settings/api-keys')

type ApiKey = Schema<'ApiKey'>

/** The keys of programs: who made them, what they can do, whether they are used. */
export function ApiKeysPage() {
  const { slug: org } = useOrganization()
  const search = route.useSearch()
  const query = useQuery(apiKeysQuery(org))
  const { isFiltered, filter, clear } = useListPage(search)
  // `created` is the new key, once it exists: the dialog then closes only by its button.
  const creation = useDialog<{ created: CreatedKey | null }>()
  const revocation = useDialog<ApiKey>()
  const created = creation.subject?.created ?? null
  const createButton = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => creation.open({ created: null })}>
      Create API key
    </Button>
  )
  return (
    <Page
      title="API keys"
      description="Programs use the API with a key. In CI jobs, prefer OIDC trusts: they need no stored secret."
      actions={createButton}
    >
      <Filters isFiltered={isFiltered} onClear={clear}>
        <ChoiceFilter
          label="State"
          value={search.state}
          options={CREDENTIAL_STATE_OPTIONS}
          onChange={(state) => filter({ state })}
        />
        <TextFilter label="Name" value={search.name} onChange={(name) => filter({ name })} />
      </Filters>
      <DataList
        of="API keys"
        list={wholeList(query, (key) => fits(key, search))}
        columns={apiKeyColumns((key) => revocation.open(key))}
        rowKey={({ id }) => id}
        empty={
          isFiltered ? (
            <Empty icon={IconKey} title="No API key matches the filters" />
          ) : (
            <Empty icon={IconKey} title="No API keys" actions={createButton}>
              Create a key to call the API from a script, or to report from a CI system without OIDC.
            </Empty>
          )
        }
      />
      <Dialog
        dialog={creation}
        title={created ? 'API key created' : 'Create API key'}
        size="lg"
        closeOnClickOutside={created === null}
        closeOnEscape={created === null}
        withCloseButton={created === null}
      >
        {() =>
          created ? (
            <ShownApiKey created={created} onClose={creation.close} />
          ) : (
            <CreateApiKeyForm onCreated={(key) => creation.open({ created: key })} onCancel={creation.close} />
          )
        }
      </Dialog>
      <Dialog dialog={revocation} title="Revoke API key">
        {(key) => <RevokeApiKey apiKey={key} onClose={revocation.close} />}
      </Dialog>
    </Page>
  )
}

function fits(key: ApiKey, { state, name }: { state?: string; name?: string }): boolean {
  const isNamed = name === undefined || key.name.toLowerCase().includes(name.toLowerCase())
  return isNamed && (state === undefined || credentialState(key) === state)
}

function RevokeApiKey({ apiKey: { id, name }, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const { slug: org } = useOrganization()
  const { mutateAsync: revokeKey } = useApiMutation('post', '/app/api/orgs/{org}/api-keys/{id}/revoke', ['api_key'])
  const revoke = async (body: { reason: string | null }) => {
    await revokeKey({ params: { path: { org, id } }, body })
    notifyDone(`Revoked the API key ${name}.`)
  }
  return (
    <ConfirmForm confirmLabel="Revoke key" asksReason send={revoke} onClose={onClose}>
      Every program that uses <strong>{name}</strong> loses access at once. A revoked key cannot be used again.
    </ConfirmForm>
  )
}

function apiKeyColumns(onRevoke: (key: ApiKey) => void): Column<ApiKey>[] {
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
      from: 'xs',
      cell: ({ scopes, repositories, reach }) => (
        <Stack gap={0}>
          <Text size="xs" lineClamp={2}>
            {scopes.join(', ')}
          </Text>
          <Text size="xs" c="dimmed">
            It {reach}.
          </Text>
          {repositories && (
            <Text size="xs" lineClamp={2}>
              Speaks only about {repositories.join(', ')}
            </Text>
          )}
        </Stack>
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
      from: 'xs',
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
