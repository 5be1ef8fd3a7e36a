import { Button, Tabs } from '@mantine/core'
import { IconUserPlus } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { Dialog, useDialog } from '../../actions/dialog.tsx'
import { Page } from '../../page/page.tsx'
import { InvitationList } from './invitation-list.tsx'
import { InviteForm } from './invite-form.tsx'
import { MemberList } from './member-list.tsx'
import { type NewInvitation, ShownInvitation } from './shown-invitation.tsx'

const route = getRouteApi('/signed-in/orgs/$org/settings/members')

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
