import { ActionIcon, Button, Popover, Stack, TextInput, Tooltip } from '@mantine/core'
import { IconBookmarkPlus, IconTrash } from '@tabler/icons-react'
import { type FormEvent, useState } from 'react'
import { notifyDone, notifyFailed } from '../../actions/notify.tsx'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { describeProblem } from '../../page/states.tsx'
import type { IssueSearch } from './issue-search.ts'
import classes from './views.module.css'

const PATH = '/app/api/orgs/{org}/saved-views'

type SavedView = { id: string; name: string; search: Record<string, string> }

function useSavedViews() {
  const { slug: org } = useOrganization()
  const { mutateAsync: save } = useApiMutation('post', PATH, ['saved_view'])
  const { mutateAsync: remove } = useApiMutation('delete', `${PATH}/{id}`, ['saved_view'])
  const path = { org }
  return {
    save: (name: string, search: Record<string, string>) =>
      save({ params: { path }, body: { list: 'issues', name, search } }),
    remove: (id: string) => remove({ params: { path: { org, id } } }),
  }
}

/** Keeps the filters and the order of the screen under a name. */
export function SaveView({ search }: { search: IssueSearch }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Popover opened={isOpen} onChange={setOpen} trapFocus returnFocus withRoles position="bottom-end" shadow="md">
      <Popover.Target>
        <Button
          size="xs"
          variant="default"
          className={classes.fixed}
          leftSection={<IconBookmarkPlus size={14} aria-hidden />}
          onClick={() => setOpen(!isOpen)}
        >
          Save view
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Save view">
        <SaveForm search={search} onSaved={() => setOpen(false)} />
      </Popover.Dropdown>
    </Popover>
  )
}

function SaveForm({ search, onSaved }: { search: IssueSearch; onSaved: () => void }) {
  const [name, setName] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const { save } = useSavedViews()
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    try {
      await save(name.trim(), JSON.parse(JSON.stringify(search)))
      onSaved()
      notifyDone(`View “${name.trim()}” saved`)
    } catch (error) {
      setProblem(describeProblem(error))
    }
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label="Name of the view"
          description="Only you see it, in every browser."
          required
          maxLength={100}
          value={name}
          error={problem}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Button type="submit" size="xs" disabled={name.trim() === ''}>
          Save
        </Button>
      </Stack>
    </form>
  )
}

/** Deletes a saved view, and offers to bring it back. */
export function DeleteView({ view: { id, name, search } }: { view: SavedView }) {
  const { save, remove } = useSavedViews()
  const restore = async () => {
    await save(name, search).catch((error) => notifyFailed(`The view “${name}” could not be restored`, error))
  }
  const onDelete = async () => {
    try {
      await remove(id)
      notifyDone(`View “${name}” deleted`, () => void restore())
    } catch (error) {
      notifyFailed(`The view “${name}” could not be deleted`, error)
    }
  }
  return (
    <Tooltip label={`Delete view “${name}”`}>
      <ActionIcon variant="subtle" color="gray" aria-label={`Delete view ${name}`} onClick={onDelete}>
        <IconTrash size={15} />
      </ActionIcon>
    </Tooltip>
  )
}
