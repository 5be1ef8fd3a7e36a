import { PasswordInput, Stack, Switch, TagsInput, TextInput, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { ApiFormView } from '../../actions/api-form.tsx'
import { notifyDone } from '../../actions/notify.tsx'
import { useApiForm } from '../../actions/use-api-form.ts'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { RoleSelect } from '../roles/role-select.tsx'
import { type ProviderSettings, SSO_PATH, toBody, toValues } from './provider-settings.ts'
import { RoleMapEditor } from './role-map-editor.tsx'

/** The settings of the provider. `settings` is null before the first time. */
export function SsoForm({ settings }: { settings: ProviderSettings | null }) {
  const { slug: org } = useOrganization()
  const { mutateAsync: configureSso } = useApiMutation('put', SSO_PATH, ['single_sign_on'])
  const configure = useApiForm({
    initialValues: toValues(settings),
    validate: {
      issuer: (issuer) => (issuer.trim() === '' ? 'Enter the issuer.' : null),
      client_id: (id) => (id.trim() === '' ? 'Enter the client id.' : null),
    },
    send: async (values) => {
      await configureSso({ params: { path: { org } }, body: toBody(values) })
      notifyDone('Saved single sign-on.')
    },
  })
  const { getInputProps } = configure.form
  return (
    <ApiFormView form={configure} submitLabel="Save single sign-on">
      <Part title="Provider">
        <TextInput
          label="Issuer"
          description="Exactly as the provider states it."
          placeholder="https://accounts.example.com"
          required
          {...getInputProps('issuer')}
        />
        <TextInput label="Client ID" required autoComplete="off" {...getInputProps('client_id')} />
        <PasswordInput
          label="Client secret"
          description={
            settings === null
              ? 'It is stored encrypted and never shown again.'
              : 'A secret is stored. Leave the field empty to keep it. A new issuer needs its own.'
          }
          autoComplete="new-password"
          required={settings === null}
          {...getInputProps('client_secret')}
        />
      </Part>
      <Part title="Who is let in">
        <TagsInput
          label="Email domains"
          description="Only verified addresses of these domains. Empty: every verified address. Press Enter after each."
          placeholder="example.com"
          {...getInputProps('email_domains')}
        />
        <Switch
          label="Create accounts at the first sign-in"
          description="Otherwise only people who were invited can sign in."
          {...getInputProps('creates_accounts', { type: 'checkbox' })}
        />
      </Part>
      <Part title="Roles">
        <TextInput
          label="Role claim"
          description="The claim that decides the role, such as groups. Empty: roles are changed here only."
          placeholder="groups"
          {...getInputProps('role_claim')}
        />
        <RoleMapEditor form={configure.form} />
        <RoleSelect label="Default role" none="None: they cannot sign in" {...getInputProps('default_role')} />
      </Part>
    </ApiFormView>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack gap="sm" mb="sm" component="section" aria-label={title}>
      <Title order={2}>{title}</Title>
      {children}
    </Stack>
  )
}
