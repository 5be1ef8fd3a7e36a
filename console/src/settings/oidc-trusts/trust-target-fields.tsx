import { NativeSelect, SimpleGrid, Textarea, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { CiSystem, TrustTarget } from './trust-presets.ts'

const SYSTEMS: { value: CiSystem; label: string }[] = [
  { value: 'github', label: 'GitHub Actions' },
  { value: 'gitlab', label: 'GitLab CI' },
  { value: 'bitbucket', label: 'Bitbucket Pipelines' },
  { value: 'azure', label: 'Azure Pipelines' },
  { value: 'other', label: 'Another OpenID Connect issuer' },
]

type Field = { label: string; placeholder: string; description?: string }
type Fields = Partial<Record<Exclude<keyof TrustTarget, 'system' | 'conditions'>, Field>>

const BRANCH = { label: 'Branch', placeholder: 'main', description: 'Empty: every branch. release/* fits release/1.' }
const ENVIRONMENT = { label: 'Environment', placeholder: 'production', description: 'Empty: every job.' }
const AUDIENCE = { label: 'Audience', placeholder: 'The address of this server' }

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

/** Whether the form shows the field, so that an error of it can be seen there. */
export function hasTargetField(system: CiSystem, name: string): boolean {
  return name in FIELDS[system] || (system === 'other' && name === 'conditions')
}

type TrustTargetFieldsProps<Values extends TrustTarget> = { form: UseFormReturnType<Values> }

/** Which jobs are trusted, in the words of their CI system. */
export function TrustTargetFields<Values extends TrustTarget>({ form }: TrustTargetFieldsProps<Values>) {
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
