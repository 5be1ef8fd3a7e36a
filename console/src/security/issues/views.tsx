import { ActionIcon, Button, Group, Popover, Stack, TextInput, Tooltip } from '@mantine/core'
import { IconBookmarkPlus, IconTrash } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { notifyDone, notifyFailed } from '../../actions/notify.tsx'
import { api } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { pages } from '../../page/pages.ts'
import { describeProblem } from '../../page/states.tsx'
import { type IssueSearch, isSameSearch } from '../facts/searches.ts'
import classes from './views.module.css'

const PATH = '/app/api/orgs/{org}/saved-views'

/** What a security engineer looks at first. */
const BUILT_IN_VIEWS: View[] = [
  { name: 'All', search: {}, says: 'All issues, newest first' },
  {
    name: 'Fix first',
    search: { status: 'open', urgent: 'yes', sort: 'severity' },
    says: 'Open issues that are critical, high or known to be exploited, worst first',
  },
  {
    name: 'Known exploited',
    search: { status: 'open', kev: 'yes', sort: 'epss' },
    says: 'Open issues in CISA’s catalog of Known Exploited Vulnerabilities',
  },
  {
    name: 'New this week',
    search: { status: 'open', age: '7d' },
    says: 'Open issues of the last seven days, newest first',
  },
  { name: 'Dismissed', search: { status: 'dismissed' }, says: 'Issues that somebody or a VEX document dismissed' },
]

/** The views of the list: those that come with Shiplock, and those that the person has saved. */
export function Views({ search }: { search: IssueSearch }) {
  const { slug: org } = useOrganization()
  const { data } = api.useQuery('get', PATH, { params: { path: { org } } })
  const saved = data?.data.filter(({ list }) => list === 'issues') ?? []
  const current = saved.find((view) => isSameSearch(view.search, search))
  const isBuiltIn = BUILT_IN_VIEWS.some((view) => isSameSearch(view.search, search))
  return (
    <Group gap="xs" wrap="nowrap">
      <nav aria-label="Views" className={classes.views}>
        {BUILT_IN_VIEWS.map(({ name, search: of, says }) => (
          <ViewLink key={name} name={name} title={says} search={of} isCurrent={isSameSearch(of, search)} />
        ))}
        {saved.map(({ id, name, search: of }) => (
          <ViewLink key={id} name={name} search={of} isCurrent={isSameSearch(of, search)} />
        ))}
      </nav>
      {current && <DeleteView view={current} />}
      {data && !current && !isBuiltIn && <SaveView search={search} />}
    </Group>
  )
}

type ViewLinkProps = { name: string; title?: string; search: Partial<IssueSearch>; isCurrent: boolean }

function ViewLink({ name, title, search, isCurrent }: ViewLinkProps) {
  const { slug: org } = useOrganization()
  return (
    <Link
      {...pages.issues(org)}
      search={search}
      // The router would mark every view as the current page.
      activeOptions={{ exact: true, includeSearch: true }}
      activeProps={{}}
      className={classes.view}
      data-current={isCurrent || undefined}
      aria-current={isCurrent ? 'page' : undefined}
      title={title}
    >
      <bdi>{name}</bdi>
    </Link>
  )
}

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
function SaveView({ search }: { search: IssueSearch }) {
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
function DeleteView({ view: { id, name, search } }: { view: SavedView }) {
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

/** A named set of filters and an order. */
type View = { name: string; search: Partial<IssueSearch>; says: string }
