import { Button, Stack, Text } from '@mantine/core'
import { IconFingerprint, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ConfirmForm, Dialog, useDialog } from '../../actions/dialog.tsx'
import { notifyDone } from '../../actions/notify.tsx'
import type { Schema } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { type Column, DataList } from '../../list/data-list.tsx'
import { ChoiceFilter, Filters } from '../../list/filters.tsx'
import { useListPage, wholeList } from '../../list/list-page.ts'
import { Page } from '../../page/page.tsx'
import { Empty } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { CREDENTIAL_STATE_OPTIONS, CredentialBadge, CredentialName } from '../frame/credential-parts.tsx'
import { credentialState } from '../frame/credential-state.ts'
import { oidcTrustsQuery } from '../frame/queries.ts'
import { CreateTrustForm, TRUSTS_PATH } from './create-trust-form.tsx'
import { TokenTest } from './token-test.tsx'

const route = getRouteApi('/signed-in/orgs/$org/settings/oidc-trusts')

type Trust = Schema<'OidcTrust'>

/** Whose CI jobs may report without a stored secret. */
export function OidcTrustsPage() {
  const { slug: org } = useOrganization()
  const search = route.useSearch()
  const { state } = search
  const query = useQuery(oidcTrustsQuery(org))
  const { isFiltered, filter, clear } = useListPage(search)
  const creation = useDialog<true>()
  const testing = useDialog<true>()
  const revocation = useDialog<Trust>()
  const release = useDialog<Trust>()
  const createButton = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => creation.open(true)}>
      Create OIDC trust
    </Button>
  )
  return (
    <Page
      title="OIDC trusts"
      description="CI jobs identify themselves with the token of their CI system. There is no secret to store or to rotate."
      actions={
        <>
          <Button variant="default" onClick={() => testing.open(true)}>
            Test a token
          </Button>
          {createButton}
        </>
      }
    >
      <Filters isFiltered={isFiltered} onClear={clear}>
        <ChoiceFilter
          label="State"
          value={state}
          options={CREDENTIAL_STATE_OPTIONS}
          onChange={(chosen) => filter({ state: chosen })}
        />
      </Filters>
      <DataList
        of="OIDC trusts"
        list={wholeList(query, (trust) => state === undefined || credentialState(trust) === state)}
        columns={trustColumns(revocation.open, release.open)}
        rowKey={({ id }) => id}
        empty={
          state === undefined ? (
            <Empty icon={IconFingerprint} title="No OIDC trusts" actions={createButton}>
              Create a trust for a repository, and its jobs report runs and scans without a key.
            </Empty>
          ) : (
            <Empty icon={IconFingerprint} title="No trust has this state" />
          )
        }
      />
      <Dialog dialog={creation} title="Create OIDC trust" size="lg" closeOnClickOutside={false}>
        {() => <CreateTrustForm onClose={creation.close} />}
      </Dialog>
      <Dialog dialog={testing} title="Test a token" size="xl">
        {() => <TokenTest onClose={testing.close} />}
      </Dialog>
      <Dialog dialog={revocation} title="Revoke OIDC trust">
        {(trust) => <RevokeTrust trust={trust} onClose={revocation.close} />}
      </Dialog>
      <Dialog dialog={release} title="Release names">
        {(trust) => <ReleaseNames trust={trust} onClose={release.close} />}
      </Dialog>
    </Page>
  )
}

function RevokeTrust({ trust: { id, name }, onClose }: { trust: Trust; onClose: () => void }) {
  const { slug: org } = useOrganization()
  const { mutateAsync: revokeTrust } = useApiMutation('post', `${TRUSTS_PATH}/{id}/revoke`, ['oidc_trust'])
  const revoke = async (body: { reason: string | null }) => {
    await revokeTrust({ params: { path: { org, id } }, body })
    notifyDone(`Revoked the trust ${name}.`)
  }
  return (
    <ConfirmForm confirmLabel="Revoke trust" asksReason send={revoke} onClose={onClose}>
      Jobs that <strong>{name}</strong> lets in can no longer report, unless another trust lets them in. A revoked trust
      cannot be used again; you can create the same anew.
    </ConfirmForm>
  )
}

/** The names of which tokens were refused, because the id was another one than at first. */
function refusedPins({ pins }: Trust) {
  return pins.filter(({ refused_id }) => refused_id !== null)
}

function ReleaseNames({ trust, onClose }: { trust: Trust; onClose: () => void }) {
  const { slug: org } = useOrganization()
  const { mutateAsync: unpin } = useApiMutation('post', `${TRUSTS_PATH}/{id}/unpin`, ['oidc_trust'])
  const refused = refusedPins(trust)
  const release = async (body: { reason: string | null }) => {
    for (const { name } of refused) await unpin({ params: { path: { org, id: trust.id } }, body: { ...body, name } })
    notifyDone(`Released ${refused.length === 1 ? 'a name' : `${refused.length} names`} of the trust ${trust.name}.`)
  }
  return (
    <ConfirmForm confirmLabel="Release" asksReason send={release} onClose={onClose}>
      Each name keeps the id that it had when <strong>{trust.name}</strong> first let it in. These have another id now,
      so they could belong to somebody else. The next token decides which id counts from then on.
      {refused.map(({ name, id, refused_id }) => (
        <Text key={name} size="sm" mt="xs">
          <code>{name}</code>: {id} at first, {refused_id} now
        </Text>
      ))}
    </ConfirmForm>
  )
}

function trustColumns(onRevoke: (trust: Trust) => void, onRelease: (trust: Trust) => void): Column<Trust>[] {
  return [
    {
      key: 'name',
      header: 'Name',
      width: 'minmax(0, 2.5fr)',
      cell: (trust) => (
        <Stack gap={4} align="flex-start">
          <CredentialName credential={trust} lines={2} />
          {refusedPins(trust).length > 0 && (
            <Button variant="default" size="compact-xs" onClick={() => onRelease(trust)}>
              Refused: a name has another id
            </Button>
          )}
        </Stack>
      ),
    },
    {
      key: 'conditions',
      header: 'Trusts jobs with',
      width: 'minmax(0, 3fr)',
      from: 'xs',
      cell: ({ issuer, audience, conditions, trusted_events, self_hosted, speaks_for, as }) => (
        <Stack gap={0}>
          <Text size="xs" lineClamp={2}>
            {Object.entries(conditions)
              .map(([claim, value]) => `${claim}=${[value].flat().join('|')}`)
              .join(', ')}
          </Text>
          <Text size="xs" c="dimmed" lineClamp={1}>
            {issuer}
          </Text>
          <Text size="xs" c="dimmed" lineClamp={1}>
            For {audience}
          </Text>
          {(trusted_events.length > 0 || self_hosted) && (
            <Text size="xs" lineClamp={2}>
              Also verified: {[...trusted_events, ...(self_hosted ? ['self-hosted runners'] : [])].join(', ')}
            </Text>
          )}
          {speaks_for.length > 0 && (
            <Text size="xs" lineClamp={2}>
              Speaks for {speaks_for.join(', ')} {as === 'verified' ? 'as verified' : 'as an API key does'}
            </Text>
          )}
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
      from: 'xs',
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
