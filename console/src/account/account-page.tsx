import { Button, Group, NavLink, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import { Link as RouterLink } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { ApiFormView, useApiForm } from '../actions/api-form.tsx'
import { FormProblem, NewPasswordInput, useAttempt } from '../actions/attempt.tsx'
import { ConfirmForm, Dialog, useDialog } from '../actions/dialog.tsx'
import { notifyDone } from '../actions/notify.tsx'
import { useSession } from '../api/session.ts'
import { useApiMutation } from '../api/updates.ts'
import { Link } from '../page/link.tsx'
import { Page } from '../page/page.tsx'
import { pages } from '../page/pages.ts'
import { AccountSection } from '../page/sections.tsx'
import { AppFrame } from '../shell/app-frame.tsx'
import { lastOrganization } from '../shell/navigation.ts'
import { Identities } from './identities.tsx'
import { Passkeys } from './passkeys.tsx'
import { Sessions } from './sessions.tsx'
import { TwoFactor } from './two-factor.tsx'

const SECTIONS = [
  { id: 'profile', title: 'Profile' },
  { id: 'organizations', title: 'Organizations' },
  { id: 'password', title: 'Password' },
  { id: 'two-factor', title: 'Two-factor authentication' },
  { id: 'passkeys', title: 'Passkeys' },
  { id: 'single-sign-on', title: 'Single sign-on' },
  { id: 'sessions', title: 'Sessions' },
]

/** What the identity provider of an organization cannot open. */
const SECTIONS_OF_OWNER = ['profile', 'password', 'two-factor', 'passkeys']

/** What users see and change about their own account. It belongs to no organization. */
export function AccountPage() {
  const { user, session } = useSession()
  return (
    <AppFrame top={<BackLink />} links={<SectionLinks />}>
      <Page title="Account" description="Your name, how you sign in, and where you are signed in.">
        <Stack gap={40} maw={720} mx={0}>
          {session.limited ? (
            <Text size="sm">
              You are signed in as {user.email} with the single sign-on of an organization. This session opens only that
              organization. To change your name or how you sign in, sign in another way.
            </Text>
          ) : (
            <Profile />
          )}
          <Memberships />
          {!session.limited && (
            <>
              <Password />
              <TwoFactor />
              <Passkeys />
            </>
          )}
          <Identities />
          <Sessions />
        </Stack>
      </Page>
    </AppFrame>
  )
}

function BackLink() {
  const organization = lastOrganization(useSession().organizations)
  if (organization === undefined) return null
  return (
    <NavLink
      renderRoot={(props) => <RouterLink {...pages.home(organization.slug)} {...props} />}
      label={organization.name}
      leftSection={<IconArrowLeft size={17} aria-hidden />}
      aria-label={`Back to ${organization.name}`}
    />
  )
}

function SectionLinks() {
  const { limited } = useSession().session
  return (
    <Stack gap={2}>
      {SECTIONS.filter(({ id }) => !limited || !SECTIONS_OF_OWNER.includes(id)).map(({ id, title }) => (
        <NavLink key={id} href={`#${id}`} label={title} />
      ))}
    </Stack>
  )
}

function Profile() {
  const { user } = useSession()
  const { mutateAsync: renameAccount } = useApiMutation('patch', '/app/api/account', ['account'])
  const profile = useApiForm({
    initialValues: { name: user.name },
    send: async (body) => {
      await renameAccount({ body })
      notifyDone('Your name was changed.')
    },
  })
  const isUnchanged = profile.form.values.name.trim() === user.name
  return (
    <AccountSection
      id="profile"
      title="Profile"
      description="Your name is shown beside your decisions and in the audit log."
    >
      <ApiFormView form={profile} submitLabel="Save name" submitProps={{ variant: 'default', disabled: isUnchanged }}>
        <TextInput
          label="Email address"
          description="You sign in with it. It cannot be changed."
          value={user.email}
          readOnly
          variant="filled"
        />
        <TextInput label="Name" autoComplete="name" maxLength={100} required {...profile.form.getInputProps('name')} />
      </ApiFormView>
    </AccountSection>
  )
}

function Memberships() {
  const { organizations } = useSession()
  const leaving = useDialog<{ slug: string; name: string }>()
  return (
    <AccountSection
      id="organizations"
      title="Organizations"
      description="The organizations that you can open, with your role."
    >
      {organizations.length === 0 ? (
        <Text size="sm">You belong to no organization. Ask an Org admin for an invitation.</Text>
      ) : (
        <Stack gap="xs" component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
          {organizations.map(({ slug, name, role }) => (
            <Group key={slug} component="li" justify="space-between">
              <Link {...pages.home(slug)} size="sm" fw={500}>
                {name}
              </Link>
              <Group gap="sm">
                <Text size="sm" c="dimmed">
                  {role.name}
                </Text>
                <Button
                  variant="subtle"
                  color="gray"
                  size="compact-sm"
                  aria-label={`Leave ${name}`}
                  onClick={() => leaving.open({ slug, name })}
                >
                  Leave
                </Button>
              </Group>
            </Group>
          ))}
        </Stack>
      )}
      <Dialog dialog={leaving} title={`Leave ${leaving.subject?.name ?? ''}`}>
        {(organization) => <Leave organization={organization} onClose={leaving.close} />}
      </Dialog>
    </AccountSection>
  )
}

type LeaveProps = { organization: { slug: string; name: string }; onClose: () => void }

function Leave({ organization: { slug, name }, onClose }: LeaveProps) {
  const { mutateAsync: leave } = useApiMutation('delete', '/app/api/account/organizations/{org}', ['account'])
  const send = async () => {
    await leave({ params: { path: { org: slug } } })
    notifyDone(`You have left ${name}.`)
  }
  return (
    <ConfirmForm confirmLabel="Leave" phrase={slug} send={send} onClose={onClose}>
      You lose access at once, and come back only with an invitation of an Org admin. API keys that you have created
      stay.
    </ConfirmForm>
  )
}

function Password() {
  const { user, sign_in_methods: methods } = useSession()
  const { mutateAsync: changePassword } = useApiMutation('put', '/app/api/account/password', ['account'])
  const { isBusy, problem, run } = useAttempt()
  const [changes, setChanges] = useState(0)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const current = form.get('current_password')?.toString()
    const body = { new_password: String(form.get('new_password')), ...(current && { current_password: current }) }
    run(async () => {
      await changePassword({ body })
      setChanges(changes + 1)
      notifyDone(methods.password ? 'Your password was changed.' : 'Your password was set.')
    })
  }
  const verb = methods.password ? 'Change password' : 'Set password'
  return (
    <AccountSection
      id="password"
      title="Password"
      description={
        methods.password
          ? 'A change signs you out everywhere else.'
          : 'You have no password: you sign in with a passkey or with single sign-on.'
      }
    >
      <form key={changes} onSubmit={submit}>
        <Stack align="stretch" maw={400}>
          <FormProblem problem={problem} />
          <input type="hidden" autoComplete="username" value={user.email} readOnly />
          {methods.password && (
            <PasswordInput label="Current password" name="current_password" autoComplete="current-password" required />
          )}
          <NewPasswordInput label="New password" />
          <Button type="submit" variant="default" loading={isBusy} style={{ alignSelf: 'flex-start' }}>
            {verb}
          </Button>
        </Stack>
      </form>
    </AccountSection>
  )
}
