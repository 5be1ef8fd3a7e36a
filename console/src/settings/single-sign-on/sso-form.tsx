import {
  ActionIcon,
  Button,
  Group,
  Input,
  NativeSelect,
  PasswordInput,
  Stack,
  Switch,
  TagsInput,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { IconArrowUp, IconPlus, IconTrash } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { ApiFormView, useApiForm } from '../../actions/api-form.tsx'
import { notifyDone } from '../../actions/notify.tsx'
import type { paths } from '../../api/schema.ts'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { lackingPermissions, RoleSelect, useRoles } from '../roles/role-select.tsx'

export const SSO_PATH = '/app/api/orgs/{org}/single-sign-on'

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

/** Which value of the claim gives which role. The first row that fits decides. */
function RoleMapEditor({ form }: { form: UseFormReturnType<SsoValues> }) {
  const { permissions: own } = useOrganization()
  const roles = (useRoles().data?.data ?? []).map((role) => ({
    value: role.id,
    label: role.name,
    disabled: lackingPermissions(role, own).length > 0,
  }))
  const rows = form.values.role_map
  return (
    <Input.Wrapper
      label="Role map"
      labelElement="div"
      description="Values of the claim and the role that each gives. The first row that fits decides, at each sign-in again."
      error={form.errors.role_map}
    >
      <Stack gap="xs" mt="xs">
        {rows.map((_, row) => (
          <Group key={row} gap="xs" wrap="nowrap" align="flex-start">
            <TextInput
              aria-label={`Value ${row + 1}`}
              placeholder="release-team"
              flex={1}
              miw={0}
              {...form.getInputProps(`role_map.${row}.value`)}
            />
            <NativeSelect
              aria-label={`Role of value ${row + 1}`}
              flex={1}
              miw={0}
              data={roles}
              {...form.getInputProps(`role_map.${row}.role`)}
            />
            <ActionIcon
              variant="default"
              size="input-sm"
              disabled={row === 0}
              onClick={() => form.reorderListItem('role_map', { from: row, to: row - 1 })}
              aria-label={`Move value ${row + 1} up`}
            >
              <IconArrowUp size={16} aria-hidden />
            </ActionIcon>
            <ActionIcon
              variant="default"
              size="input-sm"
              onClick={() => form.removeListItem('role_map', row)}
              aria-label={`Remove value ${row + 1}`}
            >
              <IconTrash size={16} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        {rows.length === 0 && (
          <Text size="sm" c="dimmed">
            No values. Everybody gets the default role at the first sign-in.
          </Text>
        )}
        <Group>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} />}
            onClick={() => form.insertListItem('role_map', { value: '', role: 'viewer' })}
          >
            Add value
          </Button>
        </Group>
      </Stack>
    </Input.Wrapper>
  )
}

type Operations = paths[typeof SSO_PATH]

type ProviderSettings = Operations['get']['responses'][200]['content']['application/json']['data']

type NewSettings = Operations['put']['requestBody']['content']['application/json']

/** What the form holds: texts in place of what may be absent. */
type SsoValues = {
  issuer: string
  client_id: string
  client_secret: string
  email_domains: string[]
  creates_accounts: boolean
  default_role: string
  role_claim: string
  role_map: { value: string; role: string }[]
}

function toValues(settings: ProviderSettings | null): SsoValues {
  return {
    issuer: settings?.issuer ?? '',
    client_id: settings?.client_id ?? '',
    client_secret: '',
    email_domains: settings?.email_domains ?? [],
    creates_accounts: settings?.creates_accounts ?? false,
    default_role: settings?.default_role ?? '',
    role_claim: settings?.role_claim ?? '',
    role_map: settings?.role_map ?? [],
  }
}

/** An empty secret keeps the stored one. */
function toBody({ client_secret, default_role, role_claim, ...values }: SsoValues): NewSettings {
  return {
    ...values,
    issuer: values.issuer.trim(),
    client_id: values.client_id.trim(),
    default_role: default_role || null,
    role_claim: role_claim.trim() || null,
    ...(client_secret && { client_secret }),
  }
}
