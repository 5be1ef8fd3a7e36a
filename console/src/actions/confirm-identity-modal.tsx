import { Button, getDefaultZIndex, Modal, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { IconBuildingCommunity, IconKey } from '@tabler/icons-react'
import { useParams } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { api, client } from '../api/client.ts'
import { useSession } from '../api/session.ts'
import { FormProblem, useAttempt } from './attempt.tsx'
import { askForPasskey, passkeyObstacle } from './passkeys.ts'

type ConfirmIdentityModalProps = { opened: boolean; onClose: (confirmed: boolean) => void }

export function ConfirmIdentityModal({ opened, onClose }: ConfirmIdentityModalProps) {
  return (
    <Modal
      opened={opened}
      onClose={() => onClose(false)}
      title="Confirm it is you"
      // In front of the dialog whose action needs it.
      zIndex={getDefaultZIndex('overlay')}
      // Escape must not reach the dialog behind this one, which would close, too.
      closeOnEscape={false}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.stopPropagation()
        onClose(false)
      }}
    >
      <ConfirmIdentityForm onConfirmed={() => onClose(true)} />
    </Modal>
  )
}

/** The ways in which the user can prove who they are. */
function ConfirmIdentityForm({ onConfirmed }: { onConfirmed: () => void }) {
  const { user, sign_in_methods: methods } = useSession()
  const { isBusy, problem, run } = useAttempt()
  const confirm = (work: () => Promise<unknown>) => run(() => work().then(onConfirmed))
  const hasPasskey = methods.passkeys > 0 && passkeyObstacle() === null
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        This action needs a recent sign-in. You are signed in as {user.email}.
      </Text>
      <FormProblem problem={problem} />
      {hasPasskey && (
        <Button
          leftSection={<IconKey size={16} aria-hidden />}
          loading={isBusy}
          onClick={() => confirm(confirmWithPasskey)}
        >
          Use a passkey
        </Button>
      )}
      {methods.password ? (
        <PasswordProof needsCode={methods.totp} isBusy={isBusy} isSecond={hasPasskey} confirm={confirm} />
      ) : (
        !hasPasskey && <SignInAgain />
      )}
    </Stack>
  )
}

async function confirmWithPasskey(): Promise<void> {
  const { data } = await client.POST('/app/api/session/confirm/options')
  if (data) await client.POST('/app/api/session/confirm', { body: { credential: await askForPasskey(data.data) } })
}

type PasswordProofProps = {
  needsCode: boolean
  isBusy: boolean
  /** Another way is offered first. */
  isSecond: boolean
  confirm: (work: () => Promise<unknown>) => void
}

function PasswordProof({ needsCode, isBusy, isSecond, confirm }: PasswordProofProps) {
  const [isRecovery, setRecovery] = useState(false)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const code = String(form.get('code') ?? '').trim()
    const codes = code && (isRecovery ? { recovery_code: code } : { totp_code: code.replaceAll(' ', '') })
    const body = { password: String(form.get('password')), ...codes }
    confirm(() => client.POST('/app/api/session/confirm', { body }))
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <PasswordInput label="Password" name="password" autoComplete="current-password" required data-autofocus />
        {needsCode && (
          <>
            <TextInput
              key={String(isRecovery)}
              label={isRecovery ? 'Recovery code' : 'Code of your authenticator app'}
              name="code"
              inputMode={isRecovery ? 'text' : 'numeric'}
              autoComplete={isRecovery ? 'off' : 'one-time-code'}
              maxLength={50}
              required
            />
            <Button
              variant="subtle"
              size="compact-sm"
              style={{ alignSelf: 'flex-start' }}
              onClick={() => setRecovery(!isRecovery)}
            >
              {isRecovery ? 'Use the authenticator app' : 'Use a recovery code'}
            </Button>
          </>
        )}
        <Button type="submit" loading={isBusy} variant={isSecond ? 'default' : 'filled'}>
          Confirm
        </Button>
      </Stack>
    </form>
  )
}

/** Whoever has only single sign-on proves at the provider who they are, and comes back to this page. */
function SignInAgain() {
  const { session, organizations } = useSession()
  const { org: shown } = useParams({ strict: false })
  // The provider of an organization confirms only the sessions that it has started.
  const org = session.limited ? (shown ?? organizations[0]?.slug) : undefined
  const { data } = api.useQuery('get', '/app/api/sso', { params: { query: org ? { org } : {} } })
  if (!data?.data.start) return <Text size="sm">Sign out, and sign in again.</Text>
  const address = new URL(data.data.start, location.origin)
  address.searchParams.set('next', location.pathname + location.search)
  return (
    <Button component="a" href={address.href} leftSection={<IconBuildingCommunity size={16} aria-hidden />}>
      Sign in again with single sign-on
    </Button>
  )
}
