import { Alert, List, PasswordInput, type PasswordInputProps, Radio, Stack, Text, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useId, useState } from 'react'
import { ApiFormView, useApiForm } from '../../actions/api-form.tsx'
import { notifyDone } from '../../actions/notify.tsx'
import type { paths } from '../../api/schema.ts'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { PROVIDER_NAMES } from '../../page/names.ts'
import { ACCOUNT_HOSTS, type AccountProvider, type CredentialsKind, type Field } from './account-hosts.ts'
import { CODE_HOSTS_PATH, type Connection } from './connection.ts'

type AccountFormProps = {
  provider: AccountProvider
  /** The connection that gets new credentials. Null connects an account. */
  connection: Connection | null
  onClose: () => void
}

/** Connects an account of a code host with credentials, or replaces those of a connection. */
export function AccountForm({ provider, connection, onClose }: AccountFormProps) {
  const { account, kinds } = ACCOUNT_HOSTS[provider]
  const [kind, setKind] = useState<CredentialsKind>(kinds[0])
  const connect = useAccountForm({ provider, connection, onClose }, kind)
  return (
    <ApiFormView
      form={connect}
      submitLabel={connection === null ? 'Connect account' : 'Replace credentials'}
      onCancel={onClose}
    >
      {connection === null && (
        <TextInput
          {...account}
          required
          autoComplete="off"
          spellCheck={false}
          maxLength={300}
          data-autofocus
          {...connect.form.getInputProps('account')}
        />
      )}
      <KindChoice kinds={kinds} kind={kind} onChange={setKind} />
      <CredentialsFields kind={kind} form={connect.form} />
      {connection === null && <ReachNotice host={PROVIDER_NAMES[provider]} />}
    </ApiFormView>
  )
}

function useAccountForm({ provider, connection, onClose }: AccountFormProps, kind: CredentialsKind) {
  const { slug: org } = useOrganization()
  const { mutateAsync: connectAccount } = useApiMutation('post', CODE_HOSTS_PATH, ['code_host'])
  const isToken = kind.type === 'token'
  const secretField = isToken ? 'credentials.token' : 'credentials.client_secret'
  return useApiForm<AccountValues>({
    initialValues: {
      // By its id: another account can have its former name.
      account: connection?.account.id ?? '',
      credentials: { token: '', client_id: '', client_secret: '', tenant_id: '' },
    },
    validate: {
      account: required(ACCOUNT_HOSTS[provider].account),
      credentials: {
        token: required(isToken && kind.secret),
        client_id: required(kind.id),
        client_secret: required(!isToken && kind.secret),
        tenant_id: required(kind.tenant),
      },
    },
    fieldsOfCodes: {
      not_found: connection === null ? 'account' : secretField,
      account_connected: 'account',
      invalid_credentials: secretField,
    },
    send: async (values) => {
      const body = toNewConnection(provider, kind, values)
      const { data } = await connectAccount({ params: { path: { org } }, body })
      const login = data.account.login
      onClose()
      notifyDone(
        connection === null
          ? `Connected ${login}. The import has started.`
          : `Replaced the credentials of ${login}. What was missed is read now.`,
      )
    },
  })
}

/** Checks that a field was filled, if it is one of the chosen kind. */
function required(field: Field | false | undefined): (typed: string) => string | null {
  return (typed) => (field && typed.trim() === '' ? `${field.label} is required.` : null)
}

type KindChoiceProps = {
  kinds: readonly CredentialsKind[]
  kind: CredentialsKind
  onChange: (kind: CredentialsKind) => void
}

/** The kinds of credentials that a code host has. Nothing where there is one. */
function KindChoice({ kinds, kind, onChange }: KindChoiceProps) {
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
function CredentialsFields({ kind, form }: CredentialsFieldsProps) {
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

/**
 * A field for a secret of another system, which is no password of this site. Browsers neither fill
 * nor store `one-time-code`, and they ignore `off`; the other attributes ask the same of password
 * managers.
 */
function SecretInput(props: PasswordInputProps) {
  const { error } = props
  const id = useId()
  return (
    <PasswordInput
      id={id}
      autoComplete="one-time-code"
      spellCheck={false}
      maxLength={8000}
      data-1p-ignore
      data-bwignore
      data-lpignore="true"
      // Mantine gives these to every other input.
      aria-describedby={error ? `${id}-error ${id}-description` : `${id}-description`}
      aria-invalid={error ? true : undefined}
      {...props}
    />
  )
}

type NewConnection = paths[typeof CODE_HOSTS_PATH]['post']['requestBody']['content']['application/json']

/** What a form holds. The names are those of the body, so that errors find their fields. */
type AccountValues = {
  account: string
  credentials: { token: string; client_id: string; client_secret: string; tenant_id: string }
}

/** The body that connects an account. What was typed for another kind of credentials is not sent. */
function toNewConnection(
  provider: AccountProvider,
  { type, tenant }: CredentialsKind,
  { account, credentials }: AccountValues,
): NewConnection {
  const { token, client_id, client_secret, tenant_id } = credentials
  const client = { client_id: client_id.trim(), client_secret: client_secret.trim() }
  return {
    provider,
    account: account.trim(),
    credentials:
      type === 'token' ? { token: token.trim() } : { ...client, ...(tenant && { tenant_id: tenant_id.trim() }) },
  }
}

/** Where the server has no https address: code hosts may not reach it. `host` is one's name. */
export function ReachNotice({ host }: { host: string }) {
  if (location.protocol !== 'http:') return null
  return (
    <Alert color="yellow" variant="light" icon={<IconAlertTriangle />} title={`${host} may not reach this server`}>
      {host} sends events to the address of this server. It needs an https address that {host} can reach
      (SHIPLOCK_BASE_URL).
    </Alert>
  )
}
