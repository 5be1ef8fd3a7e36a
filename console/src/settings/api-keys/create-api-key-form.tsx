import { NativeSelect, TextInput } from '@mantine/core'
import { ApiFormView } from '../../actions/api-form.tsx'
import { useApiForm } from '../../actions/use-api-form.ts'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { EXPIRY_DEFAULT, ExpirySelect, expiryTime } from '../credentials/expiry.tsx'
import { ScopeChoice } from './scope-choice.tsx'
import type { Scope } from './scopes.ts'
import type { CreatedKey } from './shown-api-key.tsx'

const PATH = '/app/api/orgs/{org}/api-keys'
const ENVIRONMENTS = [
  { value: '', label: 'The environment of this server' },
  { value: 'production', label: 'Production' },
  { value: 'development', label: 'Development' },
]

type CreateApiKeyFormProps = { onCreated: (key: CreatedKey) => void; onCancel: () => void }
type Environment = CreatedKey['environment']

export function CreateApiKeyForm({ onCreated, onCancel }: CreateApiKeyFormProps) {
  const { slug: org } = useOrganization()
  const { mutateAsync: createKey } = useApiMutation('post', PATH, ['api_key'])
  const create = useApiForm({
    initialValues: { name: '', scopes: [] as string[], environment: '', expires_at: EXPIRY_DEFAULT },
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter a name.' : null),
      scopes: (scopes) => (scopes.length === 0 ? 'Choose at least one scope.' : null),
    },
    send: async ({ name, scopes, environment, expires_at }) => {
      const { data } = await createKey({
        params: { path: { org } },
        body: {
          name: name.trim(),
          scopes: scopes as Scope[],
          ...(environment && { environment: environment as Environment }),
          expires_at: expiryTime(expires_at),
        },
      })
      onCreated(data)
    },
  })
  const { getInputProps } = create.form
  return (
    <ApiFormView form={create} submitLabel="Create API key" onCancel={onCancel}>
      <TextInput
        label="Name"
        description="Says later whose key it is, such as the name of a program or a pipeline."
        maxLength={100}
        required
        data-autofocus
        {...getInputProps('name')}
      />
      <ScopeChoice {...getInputProps('scopes')} />
      <ExpirySelect {...getInputProps('expires_at')} />
      <NativeSelect
        label="Environment"
        description="Only servers of this environment accept the key."
        data={ENVIRONMENTS}
        {...getInputProps('environment')}
      />
    </ApiFormView>
  )
}
