import { Stack } from '@mantine/core'
import { IconUsers } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { useOrganization, useSession } from '../../api/session.ts'
import { CURSOR_PAGES, useCursorList } from '../../list/cursor-list.ts'
import { DataList } from '../../list/data-list.tsx'
import { ChoiceFilter, Filters, TextFilter } from '../../list/filters.tsx'
import { Empty } from '../../page/states.tsx'
import { useRoles } from '../roles/role-query.ts'
import { MEMBERS_PATH, type Member } from './member.ts'
import { memberColumns } from './member-columns.tsx'
import { MemberDialogs, useMemberDialogs } from './member-dialogs.tsx'

const route = getRouteApi('/signed-in/orgs/$org/settings/members')
const STATUSES = [
  { value: 'active', label: 'Active' },
  { value: 'disabled', label: 'Disabled' },
] as const

/** The members with their roles, and what can be done with each. */
export function MemberList() {
  const { slug: org } = useOrganization()
  const { user } = useSession()
  const { tab: _, ...search } = route.useSearch()
  const navigate = route.useNavigate()
  const roles = useRoles().data?.data ?? []
  const dialogs = useMemberDialogs()
  const init = { params: { path: { org }, query: { ...search, limit: 50 } } }
  const list = useCursorList<Member>(api.useInfiniteQuery('get', MEMBERS_PATH, init, CURSOR_PAGES), [
    'get',
    MEMBERS_PATH,
    init,
  ])
  const filter = (changes: Partial<typeof search>) =>
    void navigate({ search: { ...search, ...changes }, replace: true })
  return (
    <Stack gap="md">
      <Filters isFiltered={Object.values(search).some(Boolean)} onClear={() => void navigate({ search: {} })}>
        <TextFilter
          label="Search"
          placeholder="Name or email"
          value={search.search}
          onChange={(text) => filter({ search: text })}
        />
        <ChoiceFilter
          label="Role"
          value={search.role}
          options={roles.map(({ id, name }) => ({ value: id, label: name }))}
          onChange={(role) => filter({ role })}
        />
        <ChoiceFilter
          label="Status"
          value={search.status}
          options={STATUSES}
          onChange={(status) => filter({ status })}
        />
      </Filters>
      <DataList
        of="members"
        list={list}
        columns={memberColumns(user.id, dialogs)}
        rowKey={({ user_id }) => user_id}
        empty={<Empty icon={IconUsers} title="No member matches the filters" />}
      />
      <MemberDialogs dialogs={dialogs} />
    </Stack>
  )
}
