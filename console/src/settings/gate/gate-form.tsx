import {
  Box,
  List,
  NumberInput,
  Paper,
  SimpleGrid,
  Stack,
  Switch,
  TagsInput,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { ApiFormView, useApiForm } from '../../actions/api-form.tsx'
import { api, type Schema } from '../../api/client.ts'
import { useOrganization, usePermission } from '../../api/session.ts'
import { formatCount } from '../../page/numbers.ts'
import { type GateSettings, matchesGlob } from './gate-settings.ts'

const APPROVALS_MAX = 20
const POLICIES_MAX = 20
const PATTERN_CHARS_MAX = 200
const TYPING_MS = 150
const SHOWN_MAX = 5

/** On a narrow screen the form goes on below: it must not move while somebody presses its button. */
const LIST_HEIGHT = `calc(${SHOWN_MAX + 1} * var(--mantine-font-size-sm) * var(--mantine-line-height))`

type GateFormProps = {
  gate: GateSettings
  submitLabel: string
  send: (settings: GateSettings & { reason: string | null }) => Promise<unknown>
  /** Shown above the button: a conflict with somebody else's change. */
  notice?: ReactNode
}

/** The settings of a gate, with what its patterns match. */
export function GateForm({ gate, submitLabel, send, notice }: GateFormProps) {
  const { slug: org } = useOrganization()
  const policies = api.useQuery('get', '/app/api/orgs/{org}/policies', { params: { path: { org } } })
  const isAlone = useIsAlone()
  const names = (policies.data?.data ?? []).filter(({ path }) => path === null).map(({ name }) => name)
  const gateForm = useApiForm({
    initialValues: { ...gate, repository: gate.repository ?? '', branch: gate.branch ?? '', reason: '' },
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter a name.' : null),
      environment: (pattern) => (pattern.trim() === '' ? 'Enter an environment, or * for all.' : null),
    },
    fieldsOfCodes: { name_taken: 'name' },
    send: ({ repository, branch, reason, approve_by_policies: approves, ...values }) =>
      send({
        ...values,
        approve_by_policies: values.policies.length > 0 ? approves !== false : keepCovering(approves),
        repository: repository.trim() || null,
        branch: branch.trim() || null,
        reason: reason.trim() || null,
      }),
  })
  const { form } = gateForm
  const { environment, repository, branch, policies: named, approve_by_policies: approves } = form.getValues()
  return (
    <ApiFormView form={gateForm} submitLabel={submitLabel}>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl">
        <Stack gap="md">
          <TextInput label="Name" required maxLength={100} {...form.getInputProps('name')} />
          <TextInput
            label="Environment"
            description="A name or a pattern, such as production or prod-*."
            required
            maxLength={PATTERN_CHARS_MAX}
            {...form.getInputProps('environment')}
          />
          <TextInput
            label="Repository"
            description="A name or a pattern, such as acme/*. Empty: every repository."
            maxLength={PATTERN_CHARS_MAX}
            {...form.getInputProps('repository')}
          />
          <TextInput
            label="Branch"
            description="A name or a pattern. Empty: every branch and tag."
            maxLength={PATTERN_CHARS_MAX}
            {...form.getInputProps('branch')}
          />
        </Stack>
        <GatePreview environment={environment} repository={repository} branch={branch} />
      </SimpleGrid>
      <NumberInput
        label="Required approvals"
        description="How many different people or keys must approve."
        min={1}
        max={APPROVALS_MAX}
        clampBehavior="strict"
        allowDecimal={false}
        w={{ base: '100%', xs: 220 }}
        {...form.getInputProps('required_approvals')}
      />
      <Switch
        label="API keys can approve and reject"
        description="Otherwise only people can."
        {...form.getInputProps('allow_api_keys', { type: 'checkbox' })}
      />
      <Switch
        label="Who opened the deployment or started its run can approve"
        description={
          isAlone
            ? 'You are the only member. Switch it on if you made the key that opens the gate. The deployment says that it is self-approved. If you switch it on later, it applies to what is opened 24 hours after that.'
            : 'Otherwise somebody else must. If switched on, the deployment says that it is self-approved.'
        }
        {...form.getInputProps('allow_run_creator', { type: 'checkbox' })}
      />
      <Switch
        label="Only people with a linked account can approve"
        description="Where somebody started the run at a code host. Otherwise it is not known whether that was the same person."
        {...form.getInputProps('require_linked_accounts', { type: 'checkbox' })}
      />
      <TagsInput
        label="Policies"
        description="Evaluated in addition to those that cover the deployment. A policy that does not exist blocks."
        data={names}
        maxTags={POLICIES_MAX}
        {...form.getInputProps('policies')}
      />
      {named.length > 0 && (
        <Switch
          label="Passing policies approve"
          description="Only together. Otherwise they can only block, and people or keys approve."
          checked={approves !== false}
          onChange={(event) => form.setFieldValue('approve_by_policies', event.currentTarget.checked)}
        />
      )}
      {named.length === 0 && approves === 'covering' && (
        <Text size="sm">
          This gate is from before the upgrade: all policies of the organization that cover a deployment approve it. To
          change that, name the policies that approve it.
        </Text>
      )}
      <Textarea
        label="Reason"
        description="Optional. Stored with the version and in the audit log."
        maxLength={500}
        autosize
        minRows={2}
        {...form.getInputProps('reason')}
      />
      {notice}
    </ApiFormView>
  )
}

/** Whether the organization has one active member, as far as the user may know. */
function useIsAlone(): boolean {
  const { slug: org } = useOrganization()
  const enabled = usePermission('manage_members')
  const query = { status: 'active', limit: 2 } as const
  const { data } = api.useQuery('get', '/app/api/orgs/{org}/members', { params: { path: { org }, query } }, { enabled })
  return data?.data.length === 1
}

/** Without named policies, people approve, unless the gate is from before it could say so. */
function keepCovering(approves: GateSettings['approve_by_policies']): 'covering' | false {
  return approves === 'covering' ? approves : false
}

type Patterns = { environment: string; repository: string; branch: string }

type Deployment = Schema<'Deployment'>

/** Which of the last deployments the patterns match, while they are typed. */
function GatePreview(patterns: Patterns) {
  const { slug: org } = useOrganization()
  const [{ environment, repository, branch }] = useDebouncedValue(patterns, TYPING_MS)
  const { data } = api.useQuery('get', '/app/api/orgs/{org}/deployments', {
    params: { path: { org }, query: { limit: 100 } },
  })
  const deployments = data?.data ?? []
  const covered = deployments.filter((deployment) => covers({ environment, repository, branch }, deployment))
  const environments = [...new Set(covered.map((deployment) => deployment.environment))].toSorted()
  return (
    <Paper p="md" component="section" aria-labelledby="preview" style={{ alignSelf: 'flex-start' }}>
      <Stack gap="xs">
        <Title order={2} id="preview">
          Matches
        </Title>
        <Text size="sm" role="status">
          {describe(covered.length, deployments.length)}
        </Text>
        <Box mih={LIST_HEIGHT}>
          {environments.length > 0 && (
            <List size="sm" aria-label="Environments">
              {environments.slice(0, SHOWN_MAX).map((name) => (
                <List.Item key={name}>{name}</List.Item>
              ))}
            </List>
          )}
          {environments.length > SHOWN_MAX && (
            <Text size="sm" c="dimmed">
              and {formatCount(environments.length - SHOWN_MAX)} more environments
            </Text>
          )}
        </Box>
        <Text size="xs" c="dimmed">
          <code>*</code> matches within one part of a path, <code>**</code> any number of parts, <code>?</code> one
          character, and <code>{'{a,b}'}</code> one of several.
        </Text>
      </Stack>
    </Paper>
  )
}

function describe(covered: number, total: number): string {
  if (total === 0) return 'There are no deployments yet to compare with.'
  return `${formatCount(covered)} of the last ${formatCount(total)} deployments.`
}

function covers({ environment, repository, branch }: Patterns, deployment: Deployment): boolean {
  const names = [deployment.repository, deployment.repository_full_name].flatMap((name) => name ?? [])
  return (
    matchesGlob(environment.trim(), deployment.environment) &&
    (repository.trim() === '' ||
      names.some((name) => matchesGlob(repository.trim().toLowerCase(), name.toLowerCase()))) &&
    (branch.trim() === '' || (deployment.branch !== null && matchesGlob(branch.trim(), deployment.branch)))
  )
}
