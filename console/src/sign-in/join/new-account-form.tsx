import { Button, Divider, Stack, Text, TextInput } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { type FormEvent, useRef } from 'react'
import { FormProblem, NewPasswordInput, useAttempt } from '../../actions/attempt.tsx'
import { createPasskey, passkeyObstacle } from '../../actions/passkeys.ts'
import { client } from '../../api/client.ts'
import { deviceName } from '../../page/device-name.ts'
import type { Link } from './link.ts'

type NewAccountProps = { link: Link; token: string; onAccepted: (organization: string | null) => void }

type Fields = { email?: string; name?: string }

/** A new account, or new ways to sign in to one: a password or a passkey. */
export function NewAccountForm({ link, token, onAccepted }: NewAccountProps) {
  const form = useRef<HTMLFormElement>(null)
  const { isBusy, problem, run } = useAttempt()
  const obstacle = passkeyObstacle()
  const accept = async (proof: Awaited<ReturnType<typeof makePasskey>> | { password: string }) => {
    const body = { token, ...fieldsOf(form.current), ...proof }
    const { data } = await client.POST('/app/api/links/accept', { body })
    if (data) onAccepted(data.data.organization)
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const password = String(new FormData(event.currentTarget).get('new_password'))
    run(() => accept({ password }))
  }
  const usePasskey = () => {
    if (reportMissingFields(form.current)) return
    run(async () => accept(await makePasskey({ token, ...fieldsOf(form.current) })))
  }
  return (
    <form ref={form} onSubmit={submit}>
      <Stack>
        <FormProblem problem={problem} />
        <AccountFields link={link} />
        <NewPasswordInput label="Password" />
        <Button type="submit" loading={isBusy}>
          {link.kind === 'reset' ? 'Set new password' : 'Create account'}
        </Button>
        <Divider label="or" />
        <Button
          variant="default"
          leftSection={<IconKey size={16} aria-hidden />}
          disabled={isBusy || obstacle !== null}
          onClick={usePasskey}
        >
          Use a passkey instead
        </Button>
        {obstacle && (
          <Text size="xs" c="dimmed">
            {obstacle}
          </Text>
        )}
      </Stack>
    </form>
  )
}

/** Password managers find the account by a field of the type `username`, also where it is given. */
function AccountFields({ link: { kind, email } }: { link: Link }) {
  return (
    <>
      {kind === 'setup' ? (
        <TextInput label="Email address" name="email" type="email" autoComplete="username" required autoFocus />
      ) : (
        <input type="hidden" autoComplete="username" value={email ?? ''} readOnly />
      )}
      {kind !== 'reset' && (
        <TextInput
          label="Name"
          description="As your colleagues see it."
          name="name"
          autoComplete="name"
          maxLength={100}
          required
          autoFocus={kind === 'invitation'}
        />
      )}
    </>
  )
}

function fieldsOf(form: HTMLFormElement | null): Fields {
  const entries = form ? new FormData(form) : new FormData()
  const [email, name] = ['email', 'name'].map((field) => entries.get(field)?.toString().trim())
  return { ...(email && { email }), ...(name && { name }) }
}

/** A passkey takes the place of the password, and of nothing else. True if something is missing. */
function reportMissingFields(form: HTMLFormElement | null): boolean {
  const fields = [...(form?.querySelectorAll<HTMLInputElement>('input[name=email], input[name=name]') ?? [])]
  return fields.some((field) => !field.reportValidity())
}

async function makePasskey(body: Fields & { token: string }) {
  const { data } = await client.POST('/app/api/links/passkey-options', { body })
  if (!data) throw new Error('The server returned no options.')
  return { passkey: { name: deviceName(navigator.userAgent), credential: await createPasskey(data.data) } }
}
