import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { DryRunPanel } from '../dry-run/dry-run-panel.tsx'
import { useDryRun } from '../dry-run/use-dry-run.ts'
import type { EditorHandle } from '../editor/code-editor.tsx'
import type { FileMistake } from '../editor/file-mistakes.ts'
import { CodeEditor, MistakeList } from '../editor/lazy-editor.tsx'
import { type Draft, type PolicyCheck, usePolicyCheck } from '../editor/policy-draft.ts'
import { ApplyDialog } from './apply-dialog.tsx'

type PolicyEditorProps = {
  draft: Draft
  /**
   * The policy that is edited. Null: a new one. `isOfBefore`: its version was stored before rules
   * said what they accept.
   */
  policy: { id: string; name: string; isOfBefore: boolean } | null
  onApplied: (id: string) => void
}

/** The editor of a policy file with its problems, the dry run and the way to apply it. */
export function PolicyEditor({ draft, policy, onApplied }: PolicyEditorProps) {
  const check = withName(usePolicyCheck(draft.text), policy?.name ?? null, draft.text)
  const dryRun = useDryRun()
  const editor = useRef<EditorHandle>(null)
  const [isApplying, setApplying] = useState(false)
  const goTo = ({ line, column }: FileMistake) => editor.current?.goTo(line, column)
  const mayApply = draft.isChanged && check.mistakes.length === 0 && check.state !== 'checking'
  return (
    <Stack gap="md">
      <Stack gap="xs">
        <CodeEditor
          label="Policy file"
          value={draft.text}
          onChange={draft.setText}
          mistakes={check.mistakes}
          describedBy="editor-keys"
          handle={editor}
        />
        <Text size="xs" c="dimmed" id="editor-keys">
          Ctrl+Space completes. Press Escape, then Tab to leave the editor.
        </Text>
        <MistakeList check={check} onOpen={goTo} />
      </Stack>
      <Group>
        <Button disabled={!mayApply} onClick={() => setApplying(true)}>
          Apply policy
        </Button>
        <Text size="sm" c="dimmed">
          {draft.isChanged ? 'Changes are not applied yet.' : 'No changes.'}
        </Text>
      </Group>
      <DryRunPanel
        dryRun={dryRun}
        file={draft.text}
        appliedFile={draft.base.file}
        isValid={check.mistakes.length === 0 && check.state !== 'checking'}
      />
      <ApplyDialog
        opened={isApplying}
        onClose={() => setApplying(false)}
        draft={draft}
        policyId={policy?.id ?? null}
        isOfBefore={policy?.isOfBefore ?? false}
        outcome={dryRun.data?.file === draft.text ? dryRun.data : null}
        onApplied={onApplied}
      />
      <LeaveDialog isChanged={draft.isChanged} />
    </Stack>
  )
}

/** A file with another name would apply another policy. */
function withName(check: PolicyCheck, name: string | null, text: string): PolicyCheck {
  if (name === null || check.name === null || check.name === name) return check
  const line = text.split('\n').findIndex((each) => /^name\s*:/.test(each)) + 1
  const message = `must stay “${name}”. To make another policy, choose New policy`
  return {
    mistakes: [{ line: Math.max(line, 1), column: 1, path: 'name', message }],
    state: 'invalid',
    name: check.name,
  }
}

/** Asks before the page of a changed file is left. */
function LeaveDialog({ isChanged }: { isChanged: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => isChanged && current.pathname !== next.pathname,
    enableBeforeUnload: isChanged,
    withResolver: true,
  })
  return (
    <Modal opened={status === 'blocked'} onClose={() => reset?.()} title="Leave without applying?">
      <Stack>
        <Text size="sm">
          Your changes are not applied. They are kept in this browser tab, so that you can go on later.
        </Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={() => reset?.()} data-autofocus>
            Stay
          </Button>
          <Button onClick={() => proceed?.()}>Leave</Button>
        </Group>
      </Stack>
    </Modal>
  )
}
