import { Alert, Button, Checkbox, Group, Modal, ScrollArea, Stack, Text, Textarea } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { useCursorList } from '../../list/list-page.ts'
import { useRowSelection } from '../../list/rows.ts'
import { oneLine } from '../../page/reported-text.ts'
import { placeText } from '../facts/names.ts'
import { issueFindingsQuery } from '../facts/queries.ts'
import type { Issue } from '../facts/searches.ts'
import { branchName } from '../findings/finding-columns.tsx'
import { countTargets } from '../triage/targets.ts'
import { useEditIssue } from './use-edit-issue.ts'

type SplitDialogProps = { issue: Issue; opened: boolean; onClose: () => void }

/** Moves some findings of an issue to a new one. */
export function SplitDialog({ issue, opened, onClose }: SplitDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="Split issue" size="lg">
      <SplitForm issue={issue} onClose={onClose} />
    </Modal>
  )
}

function SplitForm({ issue, onClose }: Omit<SplitDialogProps, 'opened'>) {
  const { slug: org } = useOrganization()
  const { mutateAsync: splitIssue } = useApiMutation('post', '/app/api/orgs/{org}/security/issues/{id}/split', [])
  const { ids, toggle } = useRowSelection()
  const [comment, setComment] = useState('')
  const { edit, problem, isBusy } = useEditIssue()
  const findings = useCursorList(issueFindingsQuery(org, issue.id))
  const isPossible = ids.size > 0 && ids.size < issue.member_count
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const body = { finding_ids: [...ids], comment: comment.trim() || null }
    edit(issue.id, {
      send: () =>
        splitIssue({
          params: { path: { org, id: issue.id } },
          body,
        }),
      done: `Split ${countTargets('finding', ids.size)} off`,
      onDone: onClose,
    })
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm" c="dimmed">
          Choose the findings that are another problem. They move to a new issue, and stay apart whatever later reports
          say.
        </Text>
        {problem && (
          <Alert color="red" role="alert">
            {problem}
          </Alert>
        )}
        <ScrollArea.Autosize mah={320}>
          <Stack gap="xs" role="group" aria-label="Findings" p={2}>
            {findings.rows?.map((finding) => (
              <Checkbox
                key={finding.id}
                checked={ids.has(finding.id)}
                onChange={() => toggle(finding.id)}
                label={placeText(finding) ?? oneLine(finding.title, 200)}
                description={[finding.scanner, finding.git_ref && branchName(finding.git_ref), finding.state]
                  .filter(Boolean)
                  .map((text) => oneLine(text as string, 80))
                  .join(' · ')}
              />
            ))}
            {findings.hasMore && (
              <Button size="xs" variant="default" loading={findings.isLoadingMore} onClick={findings.loadMore}>
                Load more findings
              </Button>
            )}
          </Stack>
        </ScrollArea.Autosize>
        <Textarea
          label="Comment"
          maxLength={1000}
          autosize
          value={comment}
          onChange={({ currentTarget }) => setComment(currentTarget.value)}
        />
        <Group justify="flex-end">
          <Text size="sm" c="dimmed" role="status">
            {ids.size === issue.member_count
              ? 'At least one finding must remain.'
              : `${countTargets('finding', ids.size)} chosen`}
          </Text>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" disabled={!isPossible} loading={isBusy}>
            Split
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
