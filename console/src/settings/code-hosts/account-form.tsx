import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { ApiFormView } from '../../actions/api-form.tsx'
import { notifyDone } from '../../actions/notify.tsx'
import { useApiForm } from '../../actions/use-api-form.ts'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { PROVIDER_NAMES } from '../../page/provider-names.ts'
import { ACCOUNT_HOSTS, type AccountProvider, type CredentialsKind, type Field } from './account-hosts.ts'
import { CODE_HOSTS_PATH, type Connection } from './connection.ts'
import { CredentialsFields, KindChoice } from './credentials-fields.tsx'
import { ReachNotice } from './reach-notice.tsx'
import { type AccountValues, toNewConnection } from './to-new-connection.ts'

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
