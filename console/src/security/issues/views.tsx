import { Group } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { pages } from '../../page/pages.ts'
import { BUILT_IN_VIEWS } from './built-in-views.ts'
import { type IssueSearch, isSameSearch } from './issue-search.ts'
import { DeleteView, SaveView } from './saved-view.tsx'
import classes from './views.module.css'

const PATH = '/app/api/orgs/{org}/saved-views'

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
