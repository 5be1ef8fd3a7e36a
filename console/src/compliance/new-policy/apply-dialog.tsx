import { Alert, Button, Code, Group, Modal, Stack, Text, Textarea } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { type FormEvent, useState } from 'react'
import { notifyDone } from '../../actions/notify.tsx'
import { isPending, notifyPending } from '../../actions/pending-changes.tsx'
import { asApiError } from '../../api/api-error.ts'
import { api } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation, useRefresh } from '../../api/updates.ts'
import { describeProblem } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { DryRunSummary } from '../dry-run/dry-run-summary.tsx'
import type { DryRunOutcome } from '../dry-run/use-dry-run.ts'
import { CompareFiles } from '../editor/lazy-editor.tsx'
import type { Draft, PolicyBase } from '../editor/policy-draft.ts'

const REASON_CHARS_MAX = 500
const NOTHING_CHANGED = 'The content is that of the current version. Nothing was stored.'

type ApplyDialogProps = {
  opened: boolean
  onClose: () => void
  draft: Draft
  /** Null for a new policy. */
  policyId: string | null
  /** The version in force was stored before policies and rules said what they look at. */
  isOfBefore: boolean
  /** The dry run of this text, if there was one. */
  outcome: DryRunOutcome | null
  onApplied: (id: string) => void
}

/** Shows what is about to change, asks why, and applies the file. */
export function ApplyDialog({ opened, onClose, ...props }: ApplyDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="Apply policy" size="xl">
      <ApplyForm onClose={onClose} {...props} />
    </Modal>
  )
}

function ApplyForm(props: Omit<ApplyDialogProps, 'opened'>) {
  const { onClose, draft, policyId, isOfBefore, outcome, onApplied } = props
  const { slug: org } = useOrganization()
  const apply = useApiMutation('post', '/app/api/orgs/{org}/policies', ['policy'])
  const refresh = useRefresh()
  const [reason, setReason] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const body = { file: draft.text, expected_version: draft.base.version, reason: reason.trim() || null }
    const init = { params: { path: { org } }, body }
    apply.mutate(init, {
      onError: () => void refresh('policy'),
      onSuccess: ({ data: applied }) => {
        if (isPending(applied)) {
          notifyPending(applied)
          return onClose()
        }
        draft.discard({ version: applied.version, file: draft.text })
        notifyDone(applied.changed ? `Version ${applied.version} of ${applied.name} is in force` : NOTHING_CHANGED)
        onClose()
        onApplied(applied.id)
      },
    })
  }
  const isConflict = asApiError(apply.error)?.code === 'version_conflict'
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm">
          {draft.base.version === 0
            ? 'The policy will be in force at once, also for waiting deployments.'
            : `Version ${draft.base.version + 1} will be in force at once, also for waiting deployments.`}
        </Text>
        {outcome ? (
          <DryRunSummary outcome={outcome} isOutdated={false} />
        ) : (
          <Text size="sm" c="dimmed">
            This text was not tried yet. A dry run shows what it would have decided.
          </Text>
        )}
        {isOfBefore && <NewDefaults />}
        <CompareFiles
          before={{ label: `Version ${draft.base.version}`, text: draft.base.file }}
          after={{ label: 'New version', text: draft.text }}
        />
        <Textarea
          label="Reason"
          description="Optional. Stored with the version and in the audit log."
          maxLength={REASON_CHARS_MAX}
          autosize
          minRows={2}
          data-autofocus
          value={reason}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
        />
        {isConflict ? (
          <VersionConflict
            policyId={policyId}
            onRebase={(base) => {
              draft.rebase(base)
              apply.reset()
            }}
          />
        ) : (
          apply.isError && (
            <Alert color="red" role="alert" icon={<IconAlertTriangle />} title="The policy could not be applied">
              {describeProblem(apply.error)}
            </Alert>
          )
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={apply.isPending} disabled={isConflict}>
            Apply
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** What the next version of a policy changes beside its text. */
function NewDefaults() {
  return (
    <Alert color="yellow" icon={<IconAlertTriangle />} title="This version follows newer defaults">
      <Text size="sm">
        The version in force was stored by an earlier version of Shiplock and keeps its meaning. The new one looks at
        the jobs of the commit in all its runs and attempts, unless it has <Code>scope: run</Code> or{' '}
        <Code>scope: attempt</Code>. In it, rules without <Code>trust</Code> accept what the organization says under
        Settings, General; <Code>trust: any</Code> no longer accepts reports that people upload; and rules that read{' '}
        <Code>findings</Code> or <Code>issues</Code> are an error until what is deployed was scanned, unless they have{' '}
        <Code>absent_evidence: pass</Code>.
      </Text>
    </Alert>
  )
}

type VersionConflictProps = {
  /** Null for a new policy, whose name is taken. */
  policyId: string | null
  onRebase: (base: PolicyBase) => void
}

/** Somebody has applied another version since the file was opened. */
function VersionConflict({ policyId, onRebase }: VersionConflictProps) {
  return (
    <Alert color="yellow" role="alert" icon={<IconAlertTriangle />} title="The policy has been changed meanwhile">
      {policyId === null ? (
        <Text size="sm">A policy with this name exists. Change the name in the file, or edit that policy.</Text>
      ) : (
        <OtherVersion policyId={policyId} onRebase={onRebase} />
      )}
    </Alert>
  )
}

function OtherVersion({ policyId, onRebase }: VersionConflictProps & { policyId: string }) {
  const { slug: org } = useOrganization()
  const { data } = api.useQuery(
    'get',
    '/app/api/orgs/{org}/policies/{id}',
    { params: { path: { org, id: policyId } } },
    { staleTime: 0 },
  )
  if (data === undefined) return <Text size="sm">Reading the other version.</Text>
  const { version, updated_at, changed_by, reason, current } = data.data
  return (
    <Stack gap="sm" align="flex-start">
      <Text size="sm">
        {changed_by?.name ?? 'Somebody'} applied version {version} <Time at={updated_at} />
        {reason !== null && ` (“${reason}”)`}. Compare your text with it before you apply yours over it.
      </Text>
      <Group>
        <Button size="xs" variant="default" onClick={() => onRebase({ version, file: current.file ?? '' })}>
          Compare with version {version}
        </Button>
      </Group>
    </Stack>
  )
}
