import { Button } from '@mantine/core'
import { IconKey, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ConfirmForm } from '../../actions/confirm-form.tsx'
import { Dialog, useDialog } from '../../actions/dialog.tsx'
import { notifyDone } from '../../actions/notify.tsx'
import type { Schema } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { DataList } from '../../list/data-list.tsx'
import { ChoiceFilter, Filters, TextFilter } from '../../list/filters.tsx'
import { useListPage, wholeList } from '../../list/list-page.ts'
import { Page } from '../../page/page.tsx'
import { Empty } from '../../page/states.tsx'
import { CREDENTIAL_STATE_OPTIONS } from '../credentials/credential-badge.tsx'
import { credentialState } from '../credentials/credential-state.ts'
import { apiKeysQuery } from '../routes.ts'
import { apiKeyColumns } from './api-key-columns.tsx'
import { CreateApiKeyForm } from './create-api-key-form.tsx'
import { type CreatedKey, ShownApiKey } from './shown-api-key.tsx'

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
