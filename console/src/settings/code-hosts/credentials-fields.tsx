import { List, Radio, Stack, Text, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useId } from 'react'
import type { CredentialsKind } from './account-hosts.ts'
import { SecretInput } from './secret-input.tsx'
import type { AccountValues } from './to-new-connection.ts'

type KindChoiceProps = {
  kinds: readonly CredentialsKind[]
  kind: CredentialsKind
  onChange: (kind: CredentialsKind) => void
}

/** The kinds of credentials that a code host has. Nothing where there is one. */
export function KindChoice({ kinds, kind, onChange }: KindChoiceProps) {
  if (kinds.length === 1) return null
  const choose = (type: string) => {
    const chosen = kinds.find((each) => each.type === type)
    if (chosen) onChange(chosen)
  }
  return (
    <Radio.Group label="Credentials" value={kind.type} onChange={choose}>
      <Stack gap="xs" mt={6}>
        {kinds.map(({ type, name, about }) => (
          <Radio key={type} value={type} label={name} description={about} />
        ))}
      </Stack>
    </Radio.Group>
  )
}

type CredentialsFieldsProps = { kind: CredentialsKind; form: UseFormReturnType<AccountValues> }

/** What is entered of one kind of credentials, and what they must permit. */
export function CredentialsFields({ kind, form }: CredentialsFieldsProps) {
  const { type, id, tenant, secret, needs } = kind
  const plain = { autoComplete: 'off', spellCheck: false, required: true } as const
  return (
    <>
      <Permissions needs={needs} />
      {tenant && <TextInput {...plain} maxLength={100} {...tenant} {...form.getInputProps('credentials.tenant_id')} />}
      {id && <TextInput {...plain} maxLength={200} {...id} {...form.getInputProps('credentials.client_id')} />}
      <SecretInput
        key={type}
        required
        {...secret}
        description={[secret.description, 'It is stored encrypted and never shown again.'].filter(Boolean).join(' ')}
        {...form.getInputProps(type === 'token' ? 'credentials.token' : 'credentials.client_secret')}
      />
    </>
  )
}

function Permissions({ needs }: Pick<CredentialsKind, 'needs'>) {
  const id = useId()
  return (
    <Stack gap={4}>
      <Text size="sm" fw={500} id={id}>
        Permissions it needs
      </Text>
      <List size="sm" spacing={2} aria-labelledby={id}>
        {needs.map(([what, level]) => (
          <List.Item key={what}>
            <b>{what}</b>: {level}
          </List.Item>
        ))}
      </List>
    </Stack>
  )
}
