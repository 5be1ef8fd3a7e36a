import { Alert, Button, Checkbox, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { ApiFormView, useApiForm } from '../../actions/api-form.tsx'
import type { Schema } from '../../api/client.ts'
import type { paths } from '../../api/schema.ts'
import { type Permission, useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { CopyBlock, CopyField } from '../../page/copy.tsx'
import { PERMISSION_NAMES } from '../../page/names.ts'
import { EXPIRY_DEFAULT, ExpirySelect, expiryTime } from '../frame/credential-parts.tsx'
import { listKeyWarnings } from './key-warnings.ts'

const PATH = '/app/api/orgs/{org}/api-keys'

const ENVIRONMENTS = [
  { value: '', label: 'The environment of this server' },
  { value: 'production', label: 'Production' },
  { value: 'development', label: 'Development' },
]

/** What a key can read first, in the order in which it is tried. */
const READS: [scope: Scope, path: string][] = [
  ['read:pipelines', '/v1/runs?limit=1'],
  ['read:deployments', '/v1/deployments?limit=1'],
  ['read:security', '/v1/security/issues?limit=1'],
  ['read:compliance', '/v1/policies'],
  ['read:attestations', '/v1/changes?limit=1'],
]

/** What keys can do, and the permission that somebody needs to give it. */
const SCOPE_GROUPS: ScopeGroup[] = [
  {
    title: 'Read',
    scopes: [
      { scope: 'read:pipelines', about: 'Runs, their jobs, reports and artifacts.', permission: 'view' },
      { scope: 'read:deployments', about: 'Deployments, gates and environments.', permission: 'view' },
      { scope: 'read:security', about: 'Findings, issues, alerts and uploads.', permission: 'view' },
      { scope: 'read:compliance', about: 'Policies and their results.', permission: 'view' },
      { scope: 'read:attestations', about: 'Changes, lineage, statements and keys.', permission: 'view' },
    ],
  },
  {
    title: 'Report',
    scopes: [
      {
        scope: 'write:ci',
        about: 'Create runs, send job reports and artifacts, open deployment gates.',
        permission: 'manage_integrations',
      },
      {
        scope: 'write:security-findings',
        about: 'Upload reports of scanners and SBOMs.',
        permission: 'upload_security_reports',
      },
    ],
  },
  {
    title: 'Decide',
    scopes: [
      {
        scope: 'write:triage',
        about: 'Send VEX documents that dismiss findings at once, and confirm those of others. End streams of reports.',
        permission: 'triage',
      },
      {
        scope: 'write:deployments',
        about: 'Approve and reject deployments whose gate accepts keys.',
        permission: 'answer_deployment_gates',
      },
      {
        scope: 'write:compliance-override',
        about: 'Approve deployments that a policy blocks. Give it with care.',
        permission: 'override_compliance',
      },
    ],
  },
]

type CreateApiKeyFormProps = { onCreated: (key: CreatedKey) => void; onCancel: () => void }

type Environment = CreatedKey['environment']

export function CreateApiKeyForm({ onCreated, onCancel }: CreateApiKeyFormProps) {
  const { slug: org } = useOrganization()
  const { mutateAsync: createKey } = useApiMutation('post', PATH, ['api_key'])
  const create = useApiForm({
    initialValues: { name: '', scopes: [] as string[], repositories: '', environment: '', expires_at: EXPIRY_DEFAULT },
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter a name.' : null),
      scopes: (scopes) => (scopes.length === 0 ? 'Choose at least one scope.' : null),
    },
    send: async ({ name, scopes, repositories, environment, expires_at }) => {
      const patterns = repositories.split(/[\s,]+/).filter(Boolean)
      const { data } = await createKey({
        params: { path: { org } },
        body: {
          name: name.trim(),
          scopes: scopes as Scope[],
          ...(environment && { environment: environment as Environment }),
          expires_at: expiryTime(expires_at),
          repositories: patterns.length === 0 ? null : patterns,
        },
      })
      onCreated(data)
    },
  })
  const { getInputProps, values } = create.form
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
      <TextInput
        label="Repositories"
        description="What the key reports and decides about, such as acme/shop or acme/*. Empty: every repository. It can read all."
        placeholder="acme/shop, acme/web"
        autoComplete="off"
        {...getInputProps('repositories')}
      />
      <KeyWarnings scopes={values.scopes as Scope[]} repositories={values.repositories} />
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

/** Said while the form is filled in, also to those who cannot see it appear. */
function KeyWarnings({ scopes, repositories }: { scopes: Scope[]; repositories: string }) {
  const warnings = listKeyWarnings(scopes, repositories)
  return (
    <div role="status">
      {warnings.length > 0 && (
        <Alert color="yellow" variant="light" icon={<IconAlertTriangle />} title="What this key can do">
          {warnings.map((warning) => (
            <Text key={warning} size="sm">
              {warning}
            </Text>
          ))}
        </Alert>
      )}
    </div>
  )
}

type Created = paths['/app/api/orgs/{org}/api-keys']['post']['responses'][201]['content']['application/json']

export type CreatedKey = Created['data']

/** A new key, which nobody can show again, and how to use it. */
export function ShownApiKey({ created, onClose }: { created: CreatedKey; onClose: () => void }) {
  const example = exampleOf(created, location.origin)
  return (
    <Stack>
      <Alert color="yellow" variant="light" icon={<IconAlertTriangle />} title="Copy the key now" role="status">
        It is shown only this once. Store it as a secret of your CI system or in a password manager.
      </Alert>
      <CopyField label="API key" value={created.key} />
      <CopyBlock label="Try it in a terminal" value={example.terminal} />
      {example.ci && <CopyBlock label="Use it in a job" value={example.ci} />}
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  )
}

type Example = { terminal: string; ci: string | null }

/** A first command with a key, and steps of a job if the key can report. */
function exampleOf({ key, scopes }: { key: string; scopes: Scope[] }, server: string): Example {
  const settings = `export SHIPLOCK_URL=${server}\nexport SHIPLOCK_KEY=${key}`
  const [, path] = READS.find(([scope]) => scopes.includes(scope)) ?? []
  const call = path && `curl -H "Authorization: Bearer $SHIPLOCK_KEY" "$SHIPLOCK_URL${path}"`
  return { terminal: [settings, call].filter(Boolean).join('\n'), ci: jobSteps(scopes) }
}

function jobSteps(scopes: Scope[]): string | null {
  const steps = [
    scopes.includes('write:ci') && 'npx shiplock run start --pipeline build',
    scopes.includes('write:security-findings') && 'npx shiplock upload results.sarif',
    scopes.includes('write:ci') && 'npx shiplock run finish --status success',
  ].filter((step) => step !== false)
  return steps.length === 0 ? null : ['# SHIPLOCK_URL and SHIPLOCK_KEY as above', ...steps].join('\n')
}

type ScopeChoiceProps = {
  value?: string[]
  onChange?: (scopes: string[]) => void
  error?: React.ReactNode
}

/** The scopes of a key with their meaning. Nobody can give what their role does not permit. */
function ScopeChoice({ value, onChange, error }: ScopeChoiceProps) {
  const { permissions } = useOrganization()
  return (
    <Checkbox.Group
      label="Scopes"
      description="What the key can do. Give it only what its program needs."
      value={value}
      onChange={onChange}
      error={error}
      data-path="scopes"
      tabIndex={-1}
    >
      <Stack gap="sm" my="xs">
        {SCOPE_GROUPS.map(({ title, scopes }) => (
          <Stack key={title} gap={6}>
            <Text size="xs" c="dimmed" fw={500}>
              {title}
            </Text>
            {scopes.map(({ scope, about, permission }) => {
              const isAllowed = permissions.includes(permission)
              const lacks = `You cannot give this: it needs the permission “${PERMISSION_NAMES[permission]}”.`
              return (
                <Checkbox
                  key={scope}
                  value={scope}
                  label={scope}
                  description={isAllowed ? about : lacks}
                  disabled={!isAllowed}
                />
              )
            })}
          </Stack>
        ))}
      </Stack>
    </Checkbox.Group>
  )
}

type Scope = Schema<'ApiKey'>['scopes'][number]

type ScopeGroup = { title: string; scopes: { scope: Scope; about: string; permission: Permission }[] }
