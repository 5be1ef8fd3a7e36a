import { Alert, Button, Group, Modal, Radio, ScrollArea, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { listQuery } from '../../api/queries.ts'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { useCursorList } from '../../list/list-page.ts'
import { severityLook, statusLook } from '../../page/badges.tsx'
import { oneLine } from '../../page/reported-text.ts'
import { LineSkeleton } from '../../page/states.tsx'
import { placeText } from '../facts/names.ts'
import type { Issue } from '../facts/searches.ts'
import { useEditIssue } from './use-edit-issue.ts'

type MergeDialogProps = { issue: Issue; opened: boolean; onClose: () => void }

const PATH = '/app/api/orgs/{org}/security/issues'

/** Moves the findings of this and another issue of its repository together. */
export function MergeDialog({ issue, opened, onClose }: MergeDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="Merge with another issue" size="lg">
      <MergeForm issue={issue} onClose={onClose} />
    </Modal>
  )
}

function MergeForm({ issue, onClose }: Omit<MergeDialogProps, 'opened'>) {
  const { slug: org } = useOrganization()
  const { mutateAsync: mergeIssues } = useApiMutation('post', `${PATH}/merge`, [])
  const [other, setOther] = useState<string | null>(null)
  const [comment, setComment] = useState('')
  const { edit, problem, isBusy } = useEditIssue()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (other === null) return
    const body = { issue_ids: [issue.id, other], comment: comment.trim() || null }
    edit(issue.id, {
      send: () => mergeIssues({ params: { path: { org } }, body }),
      done: 'Merged 2 issues',
      onDone: onClose,
    })
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm" c="dimmed">
          The findings of both stay together in the older issue, whatever later reports say.
        </Text>
        {problem && (
          <Alert color="red" role="alert">
            {problem}
          </Alert>
        )}
        <OtherIssue issue={issue} value={other} onChange={setOther} />
        <Textarea
          label="Comment"
          maxLength={1000}
          autosize
          value={comment}
          onChange={({ currentTarget }) => setComment(currentTarget.value)}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" disabled={other === null} loading={isBusy}>
            Merge
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

type OtherIssueProps = { issue: Issue; value: string | null; onChange: (id: string) => void }

/** Chooses among the issues of the repository. The search looks in those that are loaded. */
function OtherIssue({ issue, value, onChange }: OtherIssueProps) {
  const { slug: org } = useOrganization()
  const [search, setSearch] = useState('')
  const { repository, provider, kind } = issue
  const query = { repository, kind, limit: 200, ...(provider && { provider }) }
  const list = useCursorList(listQuery(PATH, { path: { org }, query }))
  const wanted = search.trim().toLowerCase()
  const offered = list.rows?.filter((each) => each.id !== issue.id && textOf(each).includes(wanted)).slice(0, 100)
  return (
    <>
      <TextInput
        label="Search"
        placeholder="Title, package, file or vulnerability"
        value={search}
        data-autofocus
        onChange={({ currentTarget }) => setSearch(currentTarget.value)}
      />
      <ScrollArea.Autosize mah={300}>
        {offered === undefined && <LineSkeleton lines={4} />}
        <Radio.Group label="Issue" value={value} onChange={onChange}>
          <Stack gap="xs" mt={4} p={2}>
            {offered?.map((each) => (
              <Radio
                key={each.id}
                value={each.id}
                label={oneLine(each.title, 200)}
                description={[severityLook(each.severity).label, statusLook(each.status).label, placeText(each)]
                  .filter(Boolean)
                  .join(' · ')}
              />
            ))}
          </Stack>
        </Radio.Group>
        {offered?.length === 0 && (
          <Text size="sm" c="dimmed" role="status">
            No other issue of this repository and kind matches.
          </Text>
        )}
        {list.hasMore && (
          <Button size="xs" variant="default" mt="xs" loading={list.isLoadingMore} onClick={list.loadMore}>
            Search in older issues
          </Button>
        )}
      </ScrollArea.Autosize>
    </>
  )
}

function textOf({ title, package_name, location, vuln_ids }: Issue): string {
  return [title.slice(0, 1000), package_name, location?.path, ...vuln_ids].join('\n').toLowerCase()
}
