import { Button, Stack, Tabs } from '@mantine/core'
import { IconUserPlus, IconUsers } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Dialog, useDialog } from '../../actions/dialog.tsx'
import { useOrganization, useSession } from '../../api/session.ts'
import { DataList } from '../../list/data-list.tsx'
import { ChoiceFilter, Filters, TextFilter } from '../../list/filters.tsx'
import { useCursorList, useListPage } from '../../list/list-page.ts'
import { Page } from '../../page/page.tsx'
import { Empty } from '../../page/states.tsx'
import { membersQuery, rolesQuery } from '../frame/queries.ts'
import { InvitationList, InviteForm, type NewInvitation, ShownInvitation } from './invitations.tsx'
import { memberColumns } from './member-columns.tsx'
import { MemberDialogs, useMemberDialogs } from './member-dialogs.tsx'

const route = getRouteApi('/signed-in/orgs/$org/settings/members')

const STATUSES = [
  { value: 'active', label: 'Active' },
  { value: 'disabled', label: 'Disabled' },
] as const

/** Who belongs to the organization, and who is invited. */
export function MembersPage() {
  const { tab = 'members' } = route.useSearch()
  const navigate = route.useNavigate()
  // `invitation` is what came of it: the dialog then shows the link.
  const invite = useDialog<{ invitation: NewInvitation | null }>()
  const isSent = invite.subject?.invitation != null
  const show = (value: string | null) =>
    void navigate({ search: value === 'invitations' ? { tab: 'invitations' } : {}, replace: true })
  return (
    <Page
      title="Members"
      description="People of the organization and their roles. Changes take effect with their next request."
      actions={
        <Button leftSection={<IconUserPlus size={16} />} onClick={() => invite.open({ invitation: null })}>
          Invite member
        </Button>
      }
    >
      <Tabs value={tab} onChange={show} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="members">Members</Tabs.Tab>
          <Tabs.Tab value="invitations">Invitations</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="members">
          <MemberList />
        </Tabs.Panel>
        <Tabs.Panel value="invitations">
          <InvitationList
            onInvite={() => invite.open({ invitation: null })}
            onResent={(invitation) => invite.open({ invitation })}
          />
        </Tabs.Panel>
      </Tabs>
      <Dialog dialog={invite} title={isSent ? 'Invitation' : 'Invite member'} closeOnClickOutside={!isSent}>
        {({ invitation }) =>
          invitation ? (
            <ShownInvitation invitation={invitation} onClose={invite.close} />
          ) : (
            <InviteForm onInvited={(made) => invite.open({ invitation: made })} onCancel={invite.close} />
          )
        }
      </Dialog>
    </Page>
  )
}

/** The members with their roles, and what can be done with each. */
function MemberList() {
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
