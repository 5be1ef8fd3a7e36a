import { NumberInput, SimpleGrid, Stack, Switch, TagsInput, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ApiFormView } from '../../actions/api-form.tsx'
import { useApiForm } from '../../actions/use-api-form.ts'
import { useOrganization } from '../../api/session.ts'
import { policiesQuery } from '../../compliance/routes.ts'
import type { GateSettings } from './describe-gate.ts'
import { GatePreview } from './gate-preview.tsx'

const APPROVALS_MAX = 20
const POLICIES_MAX = 20
const PATTERN_CHARS_MAX = 200

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
  const policies = useQuery(policiesQuery(org))
  const names = (policies.data?.data ?? []).filter(({ path }) => path === null).map(({ name }) => name)
  const gateForm = useApiForm({
    initialValues: { ...gate, repository: gate.repository ?? '', branch: gate.branch ?? '', reason: '' },
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter a name.' : null),
      environment: (pattern) => (pattern.trim() === '' ? 'Enter an environment, or * for all.' : null),
    },
    fieldsOfCodes: { name_taken: 'name' },
    send: ({ repository, branch, reason, ...values }) =>
      send({
        ...values,
        repository: repository.trim() || null,
        branch: branch.trim() || null,
        reason: reason.trim() || null,
      }),
  })
  const { form } = gateForm
  const { environment, repository, branch } = form.getValues()
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
        label="The creator of the run can approve"
        description="Otherwise somebody else must."
        {...form.getInputProps('allow_run_creator', { type: 'checkbox' })}
      />
      <TagsInput
        label="Policies"
        description="Evaluated in addition to those that cover the deployment. A policy that does not exist blocks."
        data={names}
        maxTags={POLICIES_MAX}
        {...form.getInputProps('policies')}
      />
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
