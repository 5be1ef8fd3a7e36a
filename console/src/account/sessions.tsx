import { Button, Group, Stack, Text } from '@mantine/core'
import { IconCircleCheck, IconDeviceDesktop, IconDeviceMobile } from '@tabler/icons-react'
import { notifyDone, notifyFailed } from '../actions/notify.tsx'
import { api } from '../api/client.ts'
import { useApiMutation } from '../api/updates.ts'
import { ToneBadge } from '../page/badges.tsx'
import { deviceName } from '../page/device-name.ts'
import { AccountSection } from '../page/sections.tsx'
import { LineSkeleton, QueryView } from '../page/states.tsx'
import { Time } from '../page/time.tsx'

type Session = {
  id: string
  current: boolean
  method: 'password' | 'passkey' | 'sso' | 'link'
  organization: string | null
  last_used_at: string
  address: string | null
  user_agent: string | null
}

const METHODS = { password: 'password', passkey: 'passkey', sso: 'single sign-on', link: 'a link' }

export function Sessions() {
  const { mutateAsync: revokeOthers } = useApiMutation('post', '/app/api/account/sessions/revoke-others', ['account'])
  const { mutateAsync: revokeSession } = useApiMutation('delete', '/app/api/account/sessions/{id}', ['account'])
  const query = api.useQuery('get', '/app/api/account/sessions')
  const attempt = (work: () => Promise<unknown>) =>
    work().catch((error) => notifyFailed('The session could not be ended', error))
  const endOthers = async () => {
    const { data } = await revokeOthers({})
    notifyDone(data.revoked === 1 ? '1 session has ended.' : `${data.revoked} sessions have ended.`)
  }
  const end = (id: string) => async () => {
    await revokeSession({ params: { path: { id } } })
    notifyDone('The session has ended.')
  }
  const others = query.data?.data.filter(({ current }) => !current) ?? []
  return (
    <AccountSection
      id="sessions"
      title="Sessions"
      description="Where you are signed in. End what you do not recognize, and change your password."
      actions={
        others.length > 0 && (
          <Button variant="default" onClick={() => attempt(endOthers)}>
            Sign out everywhere else
          </Button>
        )
      }
    >
      <QueryView query={query} of="sessions" skeleton={<LineSkeleton lines={3} height={36} />}>
        {({ data }) => (
          <Stack component="ul" gap="md" p={0} m={0} style={{ listStyle: 'none' }}>
            {data.map((session) => (
              <SessionRow key={session.id} session={session} onEnd={() => attempt(end(session.id))} />
            ))}
          </Stack>
        )}
      </QueryView>
    </AccountSection>
  )
}

function SessionRow({ session, onEnd }: { session: Session; onEnd: () => void }) {
  const { current, method, organization, last_used_at, address, user_agent } = session
  const way = organization === null ? METHODS[method] : `the single sign-on of ${organization}`
  const name = deviceName(user_agent)
  const Icon = /iPhone|iPad|Android/.test(name) ? IconDeviceMobile : IconDeviceDesktop
  return (
    <Group component="li" justify="space-between" wrap="nowrap">
      <Group gap="sm" wrap="nowrap">
        <Icon size={18} aria-hidden style={{ flex: 'none' }} />
        <Stack gap={0}>
          <Group gap="xs">
            <Text size="sm" fw={500}>
              {name}
            </Text>
            {current && (
              <ToneBadge tone="success" icon={IconCircleCheck}>
                This session
              </ToneBadge>
            )}
          </Group>
          <Text size="xs" c="dimmed" component="div">
            {address ?? 'Unknown address'}, signed in with {way}, last used <Time at={last_used_at} />
          </Text>
        </Stack>
      </Group>
      {!current && (
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          aria-label={`Sign out ${name} at ${address ?? 'an unknown address'}`}
          onClick={onEnd}
        >
          Sign out
        </Button>
      )}
    </Group>
  )
}
