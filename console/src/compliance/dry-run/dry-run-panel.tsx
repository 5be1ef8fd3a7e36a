import { Button, Group, SegmentedControl, Stack, Text, TextInput, Title } from '@mantine/core'
import { IconPlayerPlay } from '@tabler/icons-react'
import { type FormEvent, useState } from 'react'
import { Problem } from '../../page/states.tsx'
import { DryRunResults } from './dry-run-results.tsx'
import type { DryRunRequest, useDryRun } from './use-dry-run.ts'

const SUBJECTS = [
  { value: 'runs', label: 'Runs' },
  { value: 'deployments', label: 'Deployments' },
] as const

type DryRunPanelProps = {
  dryRun: ReturnType<typeof useDryRun>
  /** The text to try. */
  file: string
  /** The file of the applied version; empty for a new policy. */
  appliedFile: string
  isValid: boolean
}

/** Evaluates the file on what happened last, before it is applied. */
export function DryRunPanel({ dryRun, file, appliedFile, isValid }: DryRunPanelProps) {
  const [request, setRequest] = useState<DryRunRequest>({ subject: 'runs', repository: '', environment: '' })
  const start = (event: FormEvent) => {
    event.preventDefault()
    dryRun.mutate({ file, appliedFile, request })
  }
  const outcome = dryRun.data
  return (
    <Stack component="section" aria-labelledby="dry-run" gap="sm">
      <Stack gap={2}>
        <Title order={2} id="dry-run">
          Dry run
        </Title>
        <Text size="sm" c="dimmed">
          Evaluates the file on the last 50 runs or deployments that it covers, with their evidence as of now. Nothing
          is stored.
        </Text>
      </Stack>
      <Group component="form" onSubmit={start} align="flex-end" gap="sm">
        <SegmentedControl
          aria-label="Evaluate on"
          data={[...SUBJECTS]}
          value={request.subject}
          onChange={(subject) => setRequest({ ...request, subject: subject as DryRunRequest['subject'] })}
        />
        <TextInput
          label="Repository"
          placeholder="All"
          size="xs"
          value={request.repository}
          onChange={({ currentTarget }) => setRequest({ ...request, repository: currentTarget.value.trim() })}
        />
        <TextInput
          label={request.subject === 'runs' ? 'As if deployed to' : 'Environment'}
          placeholder={request.subject === 'runs' ? 'No environment' : 'All'}
          size="xs"
          value={request.environment}
          onChange={({ currentTarget }) => setRequest({ ...request, environment: currentTarget.value.trim() })}
        />
        <Button
          type="submit"
          variant="default"
          loading={dryRun.isPending}
          disabled={!isValid}
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
        >
          Start dry run
        </Button>
      </Group>
      {!isValid && (
        <Text size="sm" c="dimmed">
          A dry run needs a file without problems.
        </Text>
      )}
      {dryRun.isError && <Problem error={dryRun.error} title="The dry run could not be done" />}
      {outcome && <DryRunResults outcome={outcome} isOutdated={outcome.file !== file} />}
    </Stack>
  )
}
