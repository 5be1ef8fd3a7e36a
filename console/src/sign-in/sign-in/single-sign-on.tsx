import { Button, Group, Stack, TextInput } from '@mantine/core'
import { IconBuildingCommunity } from '@tabler/icons-react'
import { type FormEvent, useState } from 'react'
import { FormProblem, useAttempt } from '../../actions/attempt.tsx'
import { api, client } from '../../api/client.ts'
import { ownPath } from '../frame/enter-console.ts'

const ICON = <IconBuildingCommunity size={16} aria-hidden />

const ERRORS: Record<string, string> = {
  sso_failed: 'The sign-in could not be completed. Start again.',
  identity_provider_unavailable: 'The identity provider cannot be reached. Try again later.',
  not_found: 'Single sign-on is not set up for this organization.',
}

const REASONS: Record<string, string> = {
  email_not_verified: 'Your identity provider has not verified your email address.',
  domain_not_allowed: 'Addresses of your domain are not allowed to sign in this way.',
  no_account: 'You have no account. Ask an Org admin for an invitation.',
  account_exists: 'An account with your email address exists. Sign in to it, then start single sign-on again.',
  disabled: 'Your account is disabled.',
  no_role: 'Your identity provider gives you no role in the organization. Ask an Org admin.',
  not_a_member: 'You are not a member of the organization. Ask an Org admin for an invitation.',
}

type SingleSignOnProps = { org: string | undefined; next: string | undefined }

/** The provider of the server, or of the organization that the address names; and that of another one. */
export function SingleSignOn({ org, next }: SingleSignOnProps) {
  const { data } = api.useQuery('get', '/app/api/sso', { params: { query: org ? { org } : {} } })
  const [isChoosing, setChoosing] = useState(false)
  const start = data?.data.start ?? null
  return (
    <Stack gap="xs">
      {start !== null && (
        <Button component="a" variant="default" href={startAddress(start, next)} leftSection={ICON}>
          Sign in with single sign-on
        </Button>
      )}
      {isChoosing ? (
        <OrganizationForm next={next} />
      ) : (
        <Button variant="subtle" color="gray" size="compact-sm" onClick={() => setChoosing(true)}>
          Use the single sign-on of an organization
        </Button>
      )}
    </Stack>
  )
}

/** Organizations are not listed to people who are not signed in, so that they name theirs. */
function OrganizationForm({ next }: Pick<SingleSignOnProps, 'next'>) {
  const { isBusy, problem, run } = useAttempt()
  const [unknown, setUnknown] = useState<string | null>(null)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const org = String(new FormData(event.currentTarget).get('organization')).trim().toLowerCase()
    setUnknown(null)
    run(async () => {
      const { data } = await client.GET('/app/api/sso', { params: { query: { org } } })
      if (data?.data.start) location.assign(startAddress(data.data.start, next))
      else setUnknown(`Single sign-on is not set up for “${org}”.`)
    })
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="xs">
        <FormProblem problem={unknown ?? problem} />
        <Group align="flex-end" gap="xs" wrap="nowrap">
          <TextInput
            flex={1}
            label="Organization"
            placeholder="acme"
            name="organization"
            pattern="[a-zA-Z0-9][a-zA-Z0-9\-]{0,62}"
            title="Letters, digits and hyphens, as in the addresses of its pages"
            autoComplete="organization"
            required
            autoFocus
          />
          <Button type="submit" variant="default" loading={isBusy}>
            Continue
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function startAddress(start: string, next: string | undefined): string {
  const address = new URL(start, location.origin)
  const path = ownPath(next, location.origin)
  if (path !== null) address.searchParams.set('next', path)
  return address.href
}

/**
 * What went wrong with a single sign-on that led back to the sign-in page. Anybody can make such an
 * address, so only known texts are shown.
 */
export function describeSingleSignOnError(code: string | undefined, reason: string | undefined): string | null {
  if (code === undefined) return null
  return REASONS[reason ?? ''] ?? ERRORS[code] ?? 'The sign-in failed. Try again.'
}
