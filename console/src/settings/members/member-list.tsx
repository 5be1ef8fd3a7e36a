import { Stack } from '@mantine/core'
import { IconUsers } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useOrganization, useSession } from '../../api/session.ts'
import { DataList } from '../../list/data-list.tsx'
import { ChoiceFilter, Filters, TextFilter } from '../../list/filters.tsx'
import { useCursorList, useListPage } from '../../list/list-page.ts'
import { Empty } from '../../page/states.tsx'
import { membersQuery, rolesQuery } from '../routes.ts'
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
  const roles = useQuery(rolesQuery(org)).data?.data ?? []
  const dialogs = useMemberDialogs()
  const list = useCursorList(membersQuery(org, search))
  const { isFiltered, filter, clear } = useListPage(search)
  return (
    <Stack gap="md">
      <Filters isFiltered={isFiltered} onClear={clear}>
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
