import {
  Checkbox,
  Fieldset,
  Input,
  NativeSelect,
  Paper,
  Radio,
  SimpleGrid,
  Stack,
  Table,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ApiFormView, useApiForm } from '../../actions/api-form.tsx'
import { notifyDone } from '../../actions/notify.tsx'
import { useOrganization, usePermission } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { EXPIRY_DEFAULT, ExpirySelect, expiryTime } from '../frame/credential-parts.tsx'
import { organizationQuery } from '../frame/queries.ts'
import { type CiSystem, type Trusted, type TrustTarget, toTrusted } from './trust-presets.ts'

export const TRUSTS_PATH = '/app/api/orgs/{org}/oidc-trusts'

const NO_TARGET: TrustTarget = {
  ...{ system: 'github' as CiSystem, issuer: '', audience: '', repository: '', workspace: '', workspaceId: '' },
  ...{ branch: '', environment: '', conditions: '' },
}

/** What counts as verified beyond the events of a repository's own code, and for other repositories. */
const NO_TERMS = { trusted_events: '', self_hosted: false, speaks_for: '', as: 'uploaded' as 'uploaded' | 'verified' }

const SYSTEMS: { value: CiSystem; label: string }[] = [
  { value: 'github', label: 'GitHub Actions' },
  { value: 'gitlab', label: 'GitLab CI' },
  { value: 'bitbucket', label: 'Bitbucket Pipelines' },
  { value: 'azure', label: 'Azure Pipelines' },
  { value: 'other', label: 'Another OpenID Connect issuer' },
]

const BRANCH = { label: 'Branch', placeholder: 'main', description: 'Empty: every branch. release/* fits release/1.' }
const ENVIRONMENT = { label: 'Environment', placeholder: 'production', description: 'Empty: every job.' }
const AUDIENCE = { label: 'Audience', placeholder: 'As shown below' }

const FIELDS: Record<CiSystem, Fields> = {
  github: {
    repository: {
      label: 'Repository',
      placeholder: 'acme/shop',
      description: 'acme/* trusts every repository of acme.',
    },
    branch: BRANCH,
    environment: ENVIRONMENT,
    issuer: {
      label: 'Issuer',
      placeholder: 'https://token.actions.githubusercontent.com',
      description: 'Only for an Enterprise Server.',
    },
  },
  gitlab: {
    repository: { label: 'Project', placeholder: 'group/project', description: 'The path of the project.' },
    branch: BRANCH,
    environment: ENVIRONMENT,
    issuer: { label: 'Issuer', placeholder: 'https://gitlab.com', description: 'Only for an own server.' },
  },
  bitbucket: {
    workspace: { label: 'Workspace', placeholder: 'acme' },
    repository: { label: 'Repository UUID', placeholder: '2f3a…' },
    workspaceId: { label: 'Workspace UUID', placeholder: '9c1b…' },
    branch: BRANCH,
  },
  azure: {
    workspace: { label: 'Organization GUID', placeholder: '1111…' },
    repository: { label: 'Repository ID', placeholder: '2222…' },
    branch: BRANCH,
  },
  other: {
    issuer: { label: 'Issuer', placeholder: 'https://agent.buildkite.com', description: 'The claim iss, exactly.' },
    audience: AUDIENCE,
  },
}

const VERIFIED_JOBS =
  'Jobs of branches and tags by push, schedule, merge_group, workflow_dispatch, release, create and deployment, and pull requests of the repository itself if GitHub is connected. All others are untrusted.'

type Scope = 'write:ci' | 'write:security-findings'

export function CreateTrustForm({ onClose }: { onClose: () => void }) {
  const { slug: org } = useOrganization()
  const { mutateAsync: createTrust } = useApiMutation('post', TRUSTS_PATH, ['oidc_trust'])
  const mayUpload = usePermission('upload_security_reports')
  const isOrgAdmin = usePermission('manage_members')
  const scopes: Scope[] = mayUpload ? ['write:ci', 'write:security-findings'] : ['write:ci']
  const create = useApiForm({
    initialValues: { ...NO_TARGET, ...NO_TERMS, name: '', scopes, expires_at: EXPIRY_DEFAULT },
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter a name.' : null),
      scopes: (chosen) => (chosen.length === 0 ? 'Choose at least one scope.' : null),
      repository: (repository, { system }) =>
        system !== 'other' && repository.trim() === '' ? 'Enter what is trusted.' : null,
    },
    send: async ({ name, scopes, expires_at, trusted_events, self_hosted, speaks_for, as, ...target }) => {
      const { audience, ...trusted } = toTrusted(target)
      const [events, others] = [trusted_events, speaks_for].map((text) => text.split(/[\s,]+/).filter(Boolean))
      const body = {
        name: name.trim(),
        scopes,
        expires_at: expiryTime(expires_at),
        ...trusted,
        ...(audience && { audience }),
        ...(target.system === 'github' && { trusted_events: events, self_hosted }),
        ...(others !== undefined && others.length > 0 && { speaks_for: others, as }),
      }
      await createTrust({ params: { path: { org } }, body })
      onClose()
      notifyDone(`Created the trust ${body.name}.`)
    },
  })
  const { getInputProps, values, errors } = create.form
  const hidden = ['issuer', 'audience', 'conditions'].filter((name) => !hasTargetField(values.system, name))
  return (
    <ApiFormView form={create} submitLabel="Create trust" onCancel={onClose}>
      <TextInput
        label="Name"
        description="Says later what is trusted."
        placeholder="shop, production"
        maxLength={100}
        required
        data-autofocus
        {...getInputProps('name')}
      />
      <TrustTargetFields form={create.form} />
      <TrustPreview trusted={toTrusted(values)} errors={hidden.map((name) => errors[name])} />
      <Checkbox.Group label="Scopes" data-path="scopes" tabIndex={-1} {...getInputProps('scopes')}>
        <Stack gap={6} my="xs">
          <Checkbox
            value="write:ci"
            label="write:ci"
            description="Create runs, send job reports and artifacts, open deployment gates."
          />
          <Checkbox
            value="write:security-findings"
            label="write:security-findings"
            description={
              mayUpload
                ? 'Upload reports of scanners and SBOMs of its own repository.'
                : 'You cannot give this: your role cannot upload security reports.'
            }
            disabled={!mayUpload}
          />
        </Stack>
      </Checkbox.Group>
      {values.system === 'github' && (
        <Fieldset legend="Which jobs count as verified">
          <Stack gap="xs">
            <Text size="sm">{VERIFIED_JOBS}</Text>
            <TextInput
              label="Further events"
              description="Only if no stranger can cause them: what such a job reports lets deployments pass."
              placeholder="repository_dispatch"
              autoComplete="off"
              {...getInputProps('trusted_events')}
            />
            <Checkbox
              label="Self-hosted runners of public repositories"
              description="Only if each job has a runner of its own: a stranger's job can change what the next one runs."
              {...getInputProps('self_hosted', { type: 'checkbox' })}
            />
          </Stack>
        </Fieldset>
      )}
      {isOrgAdmin && (
        <Fieldset legend="Central pipelines">
          <Stack gap="xs">
            <TextInput
              label="Other repositories that the jobs speak for"
              description="Empty: only their own repository. acme/* names every repository of acme."
              placeholder="acme/*"
              autoComplete="off"
              {...getInputProps('speaks_for')}
            />
            {values.speaks_for.trim() !== '' && (
              <Radio.Group label="What they state about these counts" {...getInputProps('as')}>
                <Stack gap={6} mt={6}>
                  <Radio value="uploaded" label="As that of an API key" />
                  <Radio
                    value="verified"
                    label="As verified"
                    description="Only if nobody else can change what these jobs run: they speak for all these repositories."
                  />
                </Stack>
              </Radio.Group>
            )}
          </Stack>
        </Fieldset>
      )}
      <ExpirySelect {...getInputProps('expires_at')} />
    </ApiFormView>
  )
}

type Field = { label: string; placeholder: string; description?: string }

type Fields = Partial<Record<Exclude<keyof TrustTarget, 'system' | 'conditions'>, Field>>

/** Whether the form shows the field, so that an error of it can be seen there. */
function hasTargetField(system: CiSystem, name: string): boolean {
  return name in FIELDS[system] || (system === 'other' && name === 'conditions')
}

type TrustTargetFieldsProps<Values extends TrustTarget> = { form: UseFormReturnType<Values> }

/** Which jobs are trusted, in the words of their CI system. */
function TrustTargetFields<Values extends TrustTarget>({ form }: TrustTargetFieldsProps<Values>) {
  const { system } = form.values
  return (
    <>
      <NativeSelect label="CI system" data={SYSTEMS} {...form.getInputProps('system')} />
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
        {Object.entries(FIELDS[system]).map(([name, field]) => (
          <TextInput key={name} autoComplete="off" maxLength={500} {...field} {...form.getInputProps(name)} />
        ))}
      </SimpleGrid>
      {system === 'other' && (
        <Textarea
          label="Conditions"
          description="One claim=value a line. * stays within a part of a path, ** does not. At least one names an owner or an id."
          placeholder="sub=organization:acme:pipeline:shop:**"
          autosize
          minRows={3}
          {...form.getInputProps('conditions')}
        />
      )}
    </>
  )
}

type TrustPreviewProps = {
  trusted: Trusted
  /** Errors of parts that the form has no field for. */
  errors: ReactNode[]
}

/** The claims that a token must have. */
function TrustPreview({ trusted: { issuer, audience, conditions }, errors }: TrustPreviewProps) {
  const { data } = useQuery(organizationQuery(useOrganization().slug))
  const rows = Object.entries({ iss: issuer, aud: audience ?? data?.data.job_audience ?? '', ...conditions })
  return (
    <Paper p="sm" bg="var(--shiplock-surface)">
      <Stack gap={4}>
        <Text size="sm" fw={500}>
          Claims that a token must have
        </Text>
        <Table layout="fixed" verticalSpacing={4} withRowBorders={false} aria-label="Claims that a token must have">
          <Table.Tbody>
            {rows.map(([claim, value]) => (
              <Table.Tr key={claim}>
                <Table.Th scope="row" w="8.5rem" fw={400}>
                  <code>{claim}</code>
                </Table.Th>
                <Table.Td>
                  <code>{[value].flat().join(' or ') || '…'}</code>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        {errors.filter(Boolean).map((error) => (
          <Input.Error key={String(error)} size="sm">
            {error}
          </Input.Error>
        ))}
      </Stack>
    </Paper>
  )
}
